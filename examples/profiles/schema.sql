-- The tables of the shop. Penstock adds two of its own beside them: penstock_ledger, and profiles_rejected if a row is refused.

CREATE TABLE profiles (
  customer bigint PRIMARY KEY,
  name     text,
  city     text,
  visits   bigint NOT NULL,
  first    timestamptz,
  last     timestamptz,
  notes    text NOT NULL DEFAULT ''
);
CREATE TABLE shipments (
  id      bigint PRIMARY KEY,
  product text,
  name    text,
  city    text
);
INSERT INTO profiles VALUES
  (1, 'Ada', 'London', 7, '2024-11-02T10:00Z', '2025-05-30T16:30Z', 'prefers tea'),
  (2, 'Grace', 'New York', 1, '2025-05-12T09:15Z', '2025-05-12T09:15Z', '');
