-- The three streams of Nexmark, as what they are in the end: tables.
CREATE VIEW person AS SELECT * FROM read_csv('$data/person/*.csv', header = false, columns = {
  id: 'BIGINT', name: 'VARCHAR', email: 'VARCHAR', credit_card: 'VARCHAR', city: 'VARCHAR', state: 'VARCHAR',
  time: 'TIMESTAMP'});

CREATE VIEW auction AS SELECT * FROM read_csv('$data/auction/*.csv', header = false, columns = {
  id: 'BIGINT', item: 'VARCHAR', description: 'VARCHAR', initial_bid: 'BIGINT', reserve: 'BIGINT', time: 'TIMESTAMP',
  expires: 'TIMESTAMP', seller: 'BIGINT', category: 'BIGINT'});

CREATE VIEW bid AS SELECT * FROM read_csv('$data/bid/*.csv', header = false, columns = {
  auction: 'BIGINT', bidder: 'BIGINT', price: 'BIGINT', channel: 'VARCHAR', url: 'VARCHAR', time: 'TIMESTAMP'});
