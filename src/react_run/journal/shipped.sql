create schema if not exists react_run;
create table if not exists react_run.journals (
    run text primary key,
    epoch bigint not null,
    owner text not null,
    begun timestamptz not null default clock_timestamp(),
    changed timestamptz not null default clock_timestamp()
);
create index if not exists journals_changed on react_run.journals (changed);
create table if not exists react_run.chunks (
    run text not null references react_run.journals on delete cascade,
    at bigint not null,
    data bytea not null,
    primary key (run, at)
);
