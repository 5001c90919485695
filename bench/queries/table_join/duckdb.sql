SELECT i.id, i.seller, i.price, o.bidder, o.amount, 'insert' AS op
FROM item i LEFT JOIN offer o ON i.id = o.id;
