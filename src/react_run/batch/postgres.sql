create schema if not exists react_run;
create table if not exists react_run.batches (
    id text primary key,
    name text not null unique,
    agent text not null,
    output text,
    total bigint not null default 0,
    ok bigint not null default 0,
    unsuccessful bigint not null default 0,
    error bigint not null default 0,
    cost double precision not null default 0,
    unpriced bigint not null default 0,
    stopped boolean not null default false,
    max_cost double precision,
    reserve double precision not null default 0,
    rate double precision,
    next_request double precision not null default 0,
    begun timestamptz not null default clock_timestamp()
);
create table if not exists react_run.rows (
    batch text not null references react_run.batches on delete cascade,
    position bigint not null,
    digest text not null,
    id text,
    place text not null,
    payload text not null,
    state smallint not null default 0, -- 0 waits, 1 at work, 2 has its result
    run text not null,
    owner text,
    epoch bigint not null default 0,
    attempts integer not null default 0,
    failures integer not null default 0,
    generation integer not null default 0,
    status text,
    result text,
    primary key (batch, position)
);
create unique index if not exists row_ids on react_run.rows (batch, id) where id is not null;
create index if not exists rows_at_work on react_run.rows (batch) where state = 1;
create table if not exists react_run.workers (
    executor text primary key,
    beat timestamptz not null,
    version text not null default '' -- whose rows are handed out again when it is silent
);
create table if not exists react_run.holders (
    name text primary key, -- of a batch
    holder text not null,
    about text not null,
    beat timestamptz not null
);
create table if not exists react_run.pauses (model text primary key, until timestamptz not null);
