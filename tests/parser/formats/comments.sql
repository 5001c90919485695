-- The orders of the shop.

-- They come as JSON.
create stream orders (
    id bigint key, -- partitions are by this
    product string -- may be missing
    , time timestamp,
    /* late by at most
       ten seconds */
    watermark for time as time - interval '10' second
) with (connector = 'files', path = 'orders', format = 'json') -- from the shop
; -- end


set state_partitions = 4; -- few
-- memory is enough
set state_store = 'memory';
set auto_repartition = on;
select stream /* all */ id, -- the id
  -- the name of the product
  product
from orders -- what was ordered
-- only large ones
where price > 100 -- euros
  and -- both
  product /* of the shop */ is not null
-- the end

-- really
-- ==== formatted
-- The orders of the shop.

-- They come as JSON.
CREATE STREAM orders (
  id bigint KEY,  -- partitions are by this
  product string,  -- may be missing
  time timestamp,
  /* late by at most
       ten seconds */
  WATERMARK FOR time AS time - INTERVAL '10' SECOND
)
WITH (connector = 'files', path = 'orders', format = 'json');  -- from the shop

-- end

SET state_partitions = 4;  -- few
-- memory is enough
SET state_store = 'memory';
SET auto_repartition = ON;

SELECT STREAM /* all */
  id,  -- the id
  -- the name of the product
  product
FROM orders  -- what was ordered
-- only large ones
WHERE price > 100  -- euros
  AND  -- both
  product /* of the shop */ IS NOT NULL;
-- the end

-- really
