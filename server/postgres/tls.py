"""Certificates of the doors."""

from __future__ import annotations

import ipaddress
import os
import socket
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_DAYS = 397
_RENEWED = timedelta(days=30)


def load_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """What a server needs to speak TLS 1.2 or newer.

    Raises:
        OSError: a file cannot be read, or the two do not belong together (`ssl.SSLError`).
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate, key)
    return context


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """The paths of a certificate and of its key in the folder. The certificate vouches for itself.

    They are made if they are not there, and made again 30 days before they end. Clients trust the certificate when they
    are given its file (`sslrootcert`).
    """
    certificate, key = folder / "server.crt", folder / "server.key"
    if key.exists() and certificate.exists():
        known = x509.load_pem_x509_certificate(certificate.read_bytes())
        if known.not_valid_after_utc - datetime.now(UTC) > _RENEWED:
            return certificate, key
    folder.mkdir(parents=True, exist_ok=True)
    private = ec.generate_private_key(ec.SECP256R1())
    secret = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    _write_secret(key, secret)
    certificate.write_bytes(_sign(private).public_bytes(serialization.Encoding.PEM))
    return certificate, key


def _sign(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    host = socket.gethostname()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host[:64])])
    now = datetime.now(UTC)
    names: list[x509.GeneralName] = [x509.DNSName(each) for each in sorted({"localhost", host})]
    names += [x509.IPAddress(ipaddress.ip_address(each)) for each in ("127.0.0.1", "::1")]
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=_DAYS))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )


def _write_secret(path: Path, content: bytes) -> None:
    """Writes a file that nobody else could read at any time."""
    made = path.with_suffix(".new")
    made.unlink(missing_ok=True)
    with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    made.replace(path)
