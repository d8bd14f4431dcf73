-- Creates agents/analyst/shop.db: sqlite3 shop.db < shop.sql
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL);
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price NUMERIC NOT NULL);
CREATE TABLE orders (
  id INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (id),
  ordered_on TEXT NOT NULL
);
CREATE TABLE order_lines (
  order_id INTEGER NOT NULL REFERENCES orders (id),
  product_id INTEGER NOT NULL REFERENCES products (id),
  quantity INTEGER NOT NULL,
  PRIMARY KEY (order_id, product_id)
);
CREATE INDEX orders_by_customer ON orders (customer_id);
INSERT INTO customers VALUES (1, 'Ada', 'GB'), (2, 'Blaise', 'FR'), (3, 'Carl', 'DE'), (4, 'Dorothy', 'GB');
INSERT INTO products VALUES (1, 'kettle', 39.90), (2, 'teapot', 24.50), (3, 'cup', 6.00);
INSERT INTO orders VALUES (1, 1, '2026-01-07'), (2, 2, '2026-01-19'), (3, 1, '2026-02-02'), (4, 4, '2026-02-11');
INSERT INTO order_lines VALUES (1, 1, 1), (1, 3, 4), (2, 2, 1), (3, 3, 2), (4, 1, 1), (4, 2, 1), (4, 3, 6);
