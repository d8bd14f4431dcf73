create table meta (key text primary key, value text) without rowid;
create table rows (
    position integer primary key,
    digest text not null,
    id text,
    place text not null,
    payload text not null,
    state integer not null default 0, -- 0 waits, 1 at work, 2 has its result
    owner text,
    epoch integer not null default 0,
    attempts integer not null default 0,
    failures integer not null default 0,
    after real not null default 0,
    status text,
    result text
);
create unique index row_ids on rows (id) where id is not null;
create index at_work on rows (position) where state = 1;
create table totals (
    total integer not null, ok integer not null, unsuccessful integer not null, error integer not null,
    cost real not null, unpriced integer not null, next_request real not null
);
insert into totals values (0, 0, 0, 0, 0, 0, 0);
create table pauses (model text primary key, until real not null) without rowid;
