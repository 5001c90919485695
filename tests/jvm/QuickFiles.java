import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.ChecksumFs;
import org.apache.hadoop.fs.DelegateToFileSystem;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Hadoop's local files, for Spark in tests.
 *
 * Without its native library Hadoop starts `chmod` for each file that it creates, and for each checksum, and `readlink`
 * before it renames one. These do the same in the JVM.
 */
public class QuickFiles extends LocalFileSystem {
  public QuickFiles() {
    super(new Raw());
  }

  /** The files without checksums. */
  static class Raw extends RawLocalFileSystem {
    @Override
    public void setPermission(Path path, FsPermission permission) throws IOException {
      if (permission.getStickyBit()) {
        super.setPermission(path, permission);
      } else {
        Files.setPosixFilePermissions(
            pathToFile(path).toPath(), PosixFilePermissions.fromString(permission.toString()));
      }
    }

    @Override
    public FileStatus getFileLinkStatus(Path path) throws IOException {
      boolean isLink = Files.isSymbolicLink(pathToFile(path).toPath());
      return isLink ? super.getFileLinkStatus(path) : getFileStatus(path);
    }
  }

  /** The same for `FileContext`, Hadoop's other interface. */
  public static class Context extends ChecksumFs {
    public Context(URI uri, Configuration configuration) throws IOException, URISyntaxException {
      super(new RawContext(uri, configuration));
    }
  }

  static class RawContext extends DelegateToFileSystem {
    RawContext(URI uri, Configuration configuration) throws IOException, URISyntaxException {
      super(uri, new Raw(), configuration, "file", false);
    }

    @Override
    public int getUriDefaultPort() {
      return -1;
    }

    @Override
    public boolean isValidName(String source) {
      return true; // as of Hadoop's own local files
    }
  }
}
