"""The conformance checks with the Python driver, as an ordinary application; internal/drivers says what each check means."""
import argparse
import json
import random
import ssl
import sys
import threading
import time
import uuid
from collections import Counter, namedtuple
from datetime import date, datetime
from decimal import Decimal

from cassandra import AlreadyExists, ConsistencyLevel, InvalidRequest, Unauthorized
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, NoHostAvailable
from cassandra.concurrent import execute_concurrent_with_args
from cassandra.policies import (ConstantSpeculativeExecutionPolicy, HostStateListener,
                                RoundRobinPolicy, TokenAwarePolicy)
from cassandra.protocol import SyntaxException
from cassandra.query import UNSET_VALUE, BatchStatement, BatchType, SimpleStatement

PATIENCE = 300  # seconds that anything is waited for, retries included: far beyond what a busy machine needs

output = threading.Lock()


def say(**line):
    with output:
        print(json.dumps(line), flush=True)


def wait(check):
    """Says that a check waits to be disturbed, and returns when the harness is done."""
    say(ready=check, ok=True)
    sys.stdin.readline()


def poll(what, done):
    end = time.time() + PATIENCE
    while not done():
        if time.time() > end:
            raise AssertionError("waited %d s in vain until %s" % (PATIENCE, what))
        time.sleep(0.1)


def same(what, got, want):
    if got != want:
        raise AssertionError("%s: got %r, want %r" % (what, got, want))


class Listener(HostStateListener):
    def __init__(self):
        self.down, self.up = [], []

    def on_up(self, host):
        self.up.append(str(host.host_id))

    def on_down(self, host):
        self.down.append(str(host.host_id))

    def on_add(self, host):
        pass

    def on_remove(self, host):
        pass


Address = namedtuple("Address", "street number phones")


class Program:
    def __init__(self, o):
        self.o = o
        self.listener = Listener()
        self.cluster = self.connection(o.password)
        self.cluster.register_listener(self.listener)
        self.session = self.cluster.connect(o.keyspace)

    def connection(self, password, certificate=True):
        o = self.o
        options = {}
        if o.protocol:
            options["protocol_version"] = o.protocol
        if o.username:
            options["auth_provider"] = PlainTextAuthProvider(o.username, password)
        if o.ca:
            context = ssl.create_default_context(cafile=o.ca)
            context.check_hostname = False  # the driver gives no name to check
            if o.cert and certificate:
                context.load_cert_chain(o.cert, o.key)
            options["ssl_context"] = context
        profile = ExecutionProfile(load_balancing_policy=TokenAwarePolicy(RoundRobinPolicy(), shuffle_replicas=False),
                                   consistency_level=ConsistencyLevel.QUORUM, request_timeout=60)
        speculative = ExecutionProfile(load_balancing_policy=TokenAwarePolicy(RoundRobinPolicy()), request_timeout=60,
                                       consistency_level=ConsistencyLevel.QUORUM,
                                       speculative_execution_policy=ConstantSpeculativeExecutionPolicy(0.0005, 2))
        points = [p.rsplit(":", 1) for p in o.points.split(",")]
        cluster = Cluster([(h, int(p)) for h, p in points], port=int(points[0][1]), compression=o.compression or False,
                          connect_timeout=60, max_schema_agreement_wait=PATIENCE, control_connection_timeout=60,
                          execution_profiles={EXEC_PROFILE_DEFAULT: profile, "speculative": speculative}, **options)
        return cluster

    def all(self, *statements):
        for s in statements:
            self.session.execute(s)

    def connect(self, r):
        row = self.session.execute("SELECT release_version FROM system.local").one()
        r["detail"] = "Cassandra %s, v%d, %s" % (row[0], self.cluster.protocol_version, self.o.compression or "not compressed")
        r["hosts"] = sorted("%s:%d" % (h.endpoint.address, h.endpoint.port) for h in self.cluster.metadata.all_hosts())

    def prepared(self, r):
        self.all("""CREATE TABLE IF NOT EXISTS scalars (id int PRIMARY KEY, a ascii, b bigint, c blob, d boolean, e date, f decimal,
            g double, i float, j inet, k smallint, l text, m time, n timestamp, o timeuuid, p tinyint, q uuid, r varint)""")
        insert = self.session.prepare("INSERT INTO scalars (id, a, b, c, d, e, f, g, j, k, l, n, o, p, q, r) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        select = self.session.prepare("SELECT a, b, c, d, e, f, g, j, k, l, n, o, p, q, r FROM scalars WHERE id = ?")
        at, one, two = datetime(2026, 2, 3, 4, 5, 6, 7000), uuid.uuid1(), uuid.uuid4()
        for i in range(100):
            values = ("plain", i << 40, bytes([0, 1, i]), i % 2 == 0, date(2026, 2, 3), Decimal("1.%d" % i), i / 3, "127.0.0.1", i, "käse 🧀", at, one,
                      i, two, i << 100)
            self.session.execute(insert, (i,) + values)
            got = tuple(self.session.execute(select, (i,)).one())
            same("row", got[:4] + (got[4].date(),) + got[5:], values)
        partial = self.session.prepare("INSERT INTO scalars (id, a, l) VALUES (?, ?, ?)")
        if self.cluster.protocol_version > 3:
            self.session.execute(partial, (0, None, UNSET_VALUE))
            same("null and unset", tuple(self.session.execute("SELECT a, l FROM scalars WHERE id = 0").one()), (None, "käse 🧀"))
        else:
            self.session.execute(partial, (0, None, None))
            same("nulls", tuple(self.session.execute("SELECT a, l FROM scalars WHERE id = 0").one()), (None, None))

    def batch(self, r):
        self.all("CREATE TABLE IF NOT EXISTS batches (id int PRIMARY KEY, v text)", "CREATE TABLE IF NOT EXISTS counters (id int PRIMARY KEY, n counter)",
                 "TRUNCATE batches", "TRUNCATE counters")
        insert = self.session.prepare("INSERT INTO batches (id, v) VALUES (?, ?)")
        for kind in (BatchType.LOGGED, BatchType.UNLOGGED):
            b = BatchStatement(batch_type=kind)
            for i in range(5):
                b.add(insert, (kind.value * 10 + i, "prepared"))
            b.add(SimpleStatement("INSERT INTO batches (id, v) VALUES (%s, 'text')"), (kind.value * 10 + 5,))
            self.session.execute(b)
        count = self.session.prepare("UPDATE counters SET n = n + ? WHERE id = ?")
        b = BatchStatement(batch_type=BatchType.COUNTER)
        b.add(count, (3, 1))
        b.add(count, (4, 1))
        self.session.execute(b)
        same("rows", self.session.execute("SELECT count(*) FROM batches").one()[0], 12)
        same("counter", self.session.execute("SELECT n FROM counters WHERE id = 1").one()[0], 7)

    def paging(self, r):
        self.all("CREATE TABLE IF NOT EXISTS pages (k int, c int, v text, PRIMARY KEY (k, c))")
        insert = self.session.prepare("INSERT INTO pages (k, c, v) VALUES (1, ?, ?)")
        for start in range(0, 1000, 100):
            b = BatchStatement(batch_type=BatchType.UNLOGGED)
            for i in range(start, start + 100):
                b.add(insert, (i, "x" * (i % 50)))
            self.session.execute(b)
        select = self.session.prepare("SELECT c FROM pages WHERE k = ?")
        select.fetch_size = 77
        same("rows", [row[0] for row in self.session.execute(select, (1,))], list(range(1000)))
        select.fetch_size, state, got, pages = 300, None, [], 0
        while True:
            page = self.session.execute(select, (1,), paging_state=state)
            got += [row[0] for row in page.current_rows]
            state, pages = page.paging_state, pages + 1
            if not state:
                break
        same("rows by hand", got, list(range(1000)))
        same("pages", pages, 4)

    def collections(self, r):
        self.all("""CREATE TABLE IF NOT EXISTS collected (id int PRIMARY KEY, l list<int>, s set<text>, m map<text, bigint>,
            n map<int, frozen<list<text>>>, t tuple<int, text>, e set<int>)""")
        values = ([3, 1, 2], {"a", "b"}, {"x": 1, "y": 1 << 40}, {1: ["one", "eins"], 2: ["two"]}, (7, "seven"), set())
        self.session.execute(self.session.prepare("INSERT INTO collected (id, l, s, m, n, t, e) VALUES (1, ?, ?, ?, ?, ?, ?)"), values)
        got = self.session.execute(self.session.prepare("SELECT l, s, m, n, t, e FROM collected WHERE id = ?"), (1,)).one()
        same("collections", (got[0], set(got[1]), dict(got[2]), {k: list(v) for k, v in got[3].items()}, tuple(got[4]), set(got[5] or ())), values)

    def udt(self, r):
        self.all("CREATE TYPE IF NOT EXISTS address (street text, number int, phones frozen<map<text, text>>)",
                 "CREATE TABLE IF NOT EXISTS people (id int PRIMARY KEY, home frozen<address>, others list<frozen<address>>)")
        self.cluster.register_user_type(self.o.keyspace, "address", Address)
        home = Address("Long Street", 12, {"home": "1234"})
        others = [Address("Short Street", 1, {}), home]
        self.session.execute(self.session.prepare("INSERT INTO people (id, home, others) VALUES (?, ?, ?)"), (1, home, others))
        got = self.session.execute(self.session.prepare("SELECT home, others FROM people WHERE id = ?"), (1,)).one()
        plain = lambda a: (a.street, a.number, dict(a.phones or {}))
        same("type", plain(got[0]), plain(home))
        same("list of types", [plain(a) for a in got[1]], [plain(a) for a in others])

    def vector(self, r):
        self.all("CREATE TABLE IF NOT EXISTS vectors (id int PRIMARY KEY, v vector<float, 3>, w vector<text, 2>)")
        values = ([1.5, 2.5, -3.0], ["one", "two"])
        self.session.execute(self.session.prepare("INSERT INTO vectors (id, v, w) VALUES (1, ?, ?)"), values)
        got = self.session.execute(self.session.prepare("SELECT v, w FROM vectors WHERE id = ?"), (1,)).one()
        same("vectors", (list(got[0]), list(got[1])), values)

    def lwt(self, r):
        self.all("CREATE TABLE IF NOT EXISTS locks (id int PRIMARY KEY, owner text)", "DELETE FROM locks WHERE id = 1")
        insert = self.session.prepare("INSERT INTO locks (id, owner) VALUES (?, ?) IF NOT EXISTS")
        for want in (True, False):
            got = self.session.execute(insert, (1, "me"))
            same("applied", got.was_applied, want)
        same("applied", self.session.execute(self.session.prepare("UPDATE locks SET owner = ? WHERE id = ? IF owner = ?"), ("you", 1, "me")).was_applied, True)
        serial = SimpleStatement("SELECT owner FROM locks WHERE id = 1", consistency_level=ConsistencyLevel.SERIAL)
        same("owner, read at SERIAL", self.session.execute(serial).one()[0], "you")

    def tracing(self, r):
        trace = self.session.execute("SELECT release_version FROM system.local", trace=True).get_query_trace(max_wait_sec=PATIENCE)
        for _ in range(300):  # Cassandra writes the events beside the session
            if trace.events:
                break
            time.sleep(0.2)
            trace.populate(max_wait=PATIENCE)
        r["detail"] = "coordinator %s, %d events" % (trace.coordinator, len(trace.events))
        assert trace.events, "the trace has no events"

    def warnings(self, r):
        self.all("CREATE TABLE IF NOT EXISTS batches (id int PRIMARY KEY, v text)")
        text = "".join("INSERT INTO batches (id, v) VALUES (%d, 'w'); " % i for i in range(1000, 1020))
        future = self.session.execute_async("BEGIN UNLOGGED BATCH " + text + "APPLY BATCH")
        future.result()
        r["detail"] = str(future.warnings)[:60]
        assert future.warnings or self.cluster.protocol_version == 3, "an unlogged batch over 20 partitions came without a warning"

    def looked_up(self, r):
        self.orders(lambda k: "note %d" % k)

    def masked(self, r):
        self.orders(lambda k: "****")

    def orders(self, noted):
        select = self.session.prepare("SELECT id, note FROM orders WHERE owner = ? ALLOW FILTERING")
        for i in range(300):
            n = i % 110
            got = sorted((row[0], row[1]) for row in self.session.execute(select, ("owner %d" % n,)))
            same("orders of %d" % n, got, [(k, noted(k)) for k in range(n, 400, 100)] if n < 100 else [])

    def not_allowed(self, r):
        select = self.session.prepare("SELECT id, note FROM orders WHERE owner = ? ALLOW FILTERING")
        for i in range(300):
            try:
                self.session.execute(select, ("owner %d" % (i % 110),))
            except Unauthorized as e:
                r["detail"] = str(e)
                continue
            raise AssertionError("the orders of %d were told" % (i % 110))

    def errors(self, r):
        for statement, kind in (("SELEKT", SyntaxException), ("SELECT x FROM nosuchtable", InvalidRequest),
                                ("CREATE KEYSPACE %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}" % self.o.keyspace, AlreadyExists)):
            try:
                self.session.execute(statement)
            except kind:
                continue
            raise AssertionError(statement + " was accepted")
        self.session.execute("SELECT release_version FROM system.local")

    def use(self, r):
        name = '"%s_Use"' % self.o.keyspace.capitalize()
        self.all("CREATE KEYSPACE IF NOT EXISTS %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}" % name,
                 "CREATE TABLE IF NOT EXISTS %s.only_here (id int PRIMARY KEY)" % name)
        other = self.cluster.connect()
        try:
            other.execute("USE " + name)
            insert = other.prepare("INSERT INTO only_here (id) VALUES (?)")
            for i in range(20):
                other.execute(insert, (i,))
            same("rows", other.execute("SELECT count(*) FROM only_here").one()[0], 20)
            try:
                self.session.execute("SELECT * FROM only_here")
            except InvalidRequest:
                pass
            else:
                raise AssertionError("the first session is in the second's keyspace")
            if self.cluster.protocol_version >= 5:
                in_v5 = SimpleStatement("SELECT count(*) FROM only_here", keyspace=name.strip('"'))
                same("rows, keyspace named by the request", self.session.execute(in_v5).one()[0], 20)
        finally:
            other.shutdown()

    def large(self, r):
        self.all("CREATE TABLE IF NOT EXISTS large (id int PRIMARY KEY, v blob)")
        insert, select = self.session.prepare("INSERT INTO large (id, v) VALUES (?, ?)"), self.session.prepare("SELECT v FROM large WHERE id = ?")
        for i, size in enumerate((100, 130_000, 140_000, 1 << 20, 3 << 20)):
            v = bytes([i, 1, 2, 3, 5, 8, 13]) * (size // 7)
            self.session.execute(insert, (i, v))
            assert self.session.execute(select, (i,)).one()[0] == v, "a blob of %d bytes came back changed" % size

    def concurrent(self, r):
        self.all("CREATE TABLE IF NOT EXISTS many (id int PRIMARY KEY, v text)")
        insert, select = self.session.prepare("INSERT INTO many (id, v) VALUES (?, ?)"), self.session.prepare("SELECT v FROM many WHERE id = ?")
        ids = range(2560)
        execute_concurrent_with_args(self.session, insert, [(i, "value %d" % i) for i in ids], concurrency=128)
        for i, (ok, got) in zip(ids, execute_concurrent_with_args(self.session, select, [(i,) for i in ids], concurrency=128)):
            same("value", got.one()[0], "value %d" % i)

    def payload(self, r):
        if self.cluster.protocol_version > 3:
            self.session.execute("SELECT release_version FROM system.local", custom_payload={"who": b"helenus"})

    def speculative(self, r):
        self.all("CREATE TABLE IF NOT EXISTS many (id int PRIMARY KEY, v text)", "INSERT INTO many (id, v) VALUES (-1, 'speculated')")
        select = self.session.prepare("SELECT v FROM many WHERE id = ?")
        select.is_idempotent = True
        for _ in range(200):
            same("value", self.session.execute(select, (-1,), execution_profile="speculative").one()[0], "speculated")

    def describe(self, r):
        self.all("CREATE TABLE IF NOT EXISTS batches (id int PRIMARY KEY, v text)")
        row = self.session.execute("DESCRIBE TABLE %s.batches" % self.o.keyspace).one()
        assert "CREATE TABLE %s.batches" % self.o.keyspace in row.create_statement, row

    def metadata(self, r):
        self.all("CREATE TABLE IF NOT EXISTS described (a int, b text, c text, v bigint, PRIMARY KEY ((a, b), c))")
        t = self.cluster.metadata.keyspaces[self.o.keyspace].tables["described"]
        same("description", ([c.name for c in t.partition_key], [c.name for c in t.clustering_key], len(t.columns)), (["a", "b"], ["c"], 4))
        assert "CREATE TABLE" in t.as_cql_query()

    def token_aware(self, r):
        table = self.o.keyspace + "_one.keyed"
        self.all("CREATE TABLE IF NOT EXISTS %s (id int PRIMARY KEY, v int)" % table)
        insert = self.session.prepare("INSERT INTO %s (id, v) VALUES (?, ?)" % table)
        execute_concurrent_with_args(self.session, insert, [(i, i) for i in range(1000)], concurrency=32)
        select = self.session.prepare("SELECT v FROM %s WHERE id = ?" % table)
        select.consistency_level = ConsistencyLevel.ONE
        r["reads"], r["traces"] = [], []
        for i, token in list(self.session.execute("SELECT id, token(id) FROM " + table)):
            future = self.session.execute_async(select, (i,), trace=len(r["traces"]) < 20)
            same("row", future.result().one()[0], i)
            host = self.cluster.metadata.get_host(future.coordinator_host)
            r["reads"].append((str(token), str(host.host_id)))
            if len(r["traces"]) < 20:
                r["traces"].append((str(token), future.get_query_trace(max_wait=PATIENCE).coordinator))

    def has(self, table, column):
        t = self.cluster.metadata.keyspaces[self.o.keyspace].tables.get(table)
        return t is not None and column in t.columns

    def events(self, r):
        assert not self.has("seen", "id"), "the table is there already"
        wait("events")
        poll("the new table is known", lambda: self.has("seen", "id"))

    def disturbed(self, r):
        self.all("CREATE TABLE IF NOT EXISTS load (id text PRIMARY KEY, v bigint)")
        insert = self.session.prepare("INSERT INTO load (id, v) VALUES (?, ?)")
        select = self.session.prepare("SELECT * FROM load WHERE id = ?")
        insert.is_idempotent = select.is_idempotent = True
        self.listener.down, self.listener.up = [], []
        load(r, lambda k, v: self.session.execute(insert, (k, v)), lambda k: getattr(self.session.execute(select, (k,)).one(), "v", None))
        r["down"], r["up"] = self.listener.down, self.listener.up

    def schema_under_load(self, r):
        self.disturbed(r)
        poll("the new column is known", lambda: self.has("load", "z_added"))

    def node_added(self, r):
        before = len(self.cluster.metadata.all_hosts())
        self.disturbed(r)
        poll("the new node is known", lambda: len(self.cluster.metadata.all_hosts()) == before + 1)

    def taken_over(self, r):
        """The load of a session that lasts, while sessions come and go."""
        good, failed, refused, stop = [], Counter(), [], threading.Event()

        def visit():
            cluster = self.connection(self.o.password)
            try:
                cluster.connect().execute("SELECT release_version FROM system.local")
            finally:
                cluster.shutdown()

        def visits():
            end = None
            while True:
                last = stop.is_set()
                end = end or last and time.time() + PATIENCE
                try:
                    visit()
                    good.append(1)
                    if last:
                        return
                except Exception as e:
                    text = "%s: %s" % (type(e).__name__, e)
                    failed[text[:150]] += 1
                    if "refused" in text or last and time.time() > end:
                        refused.append("after %d visits: %s" % (len(good), text))
                        return
                time.sleep(0.05)

        visitor = threading.Thread(target=visits)
        visitor.start()
        try:
            self.disturbed(r)
        finally:
            stop.set()
            visitor.join()
        r["detail"] = "%d visits; %s" % (len(good), r["detail"])
        if failed:
            r["detail"] += "; visits failed: %s" % dict(failed)
        assert not refused, refused

    def no_certificate(self, r):
        try:
            self.connection(self.o.password, certificate=False).connect()
        except NoHostAvailable as e:
            r["detail"] = str(e)[:120]
            assert "certificate" in str(e), "the refusal does not say why: %s" % e
        else:
            raise AssertionError("who has no certificate was let in")

    def wrong_password(self, r):
        try:
            self.connection("wrong").connect()
        except NoHostAvailable as e:
            r["detail"] = str(e)[:80]
            assert "incorrect" in str(e), "the refusal does not say why: %s" % e
        else:
            raise AssertionError("a wrong password was let in")


class Wrong(AssertionError):
    """A wrong answer: it is not tried again."""


def load(r, write, read):
    """Writes rows and reads them back from several threads while the harness disturbs; what fails is tried again."""
    name, streak = "%s-%d" % (r["check"], time.time_ns()), 50
    stop, failed, errors, written = threading.Event(), Counter(), [], {}

    def attempt(op):
        end = time.time() + PATIENCE
        while True:
            try:
                return op()
            except Wrong:
                raise
            except Exception as e:
                failed[("%s: %s" % (type(e).__name__, e))[:90]] += 1
                if time.time() > end:
                    raise
                time.sleep(0.05)

    def check(w, i):
        got = read("%s-%d-%d" % (name, w, i))
        if got != i * 7 + w:
            raise Wrong("wrong answer: row %d-%d says %r, written was %d" % (w, i, got, i * 7 + w))

    def work(w):
        i = good = 0
        try:
            while good < streak:
                if stop.is_set():
                    good += 1
                before = sum(failed.values())
                attempt(lambda: write("%s-%d-%d" % (name, w, i), i * 7 + w))
                written[w] = i + 1
                picked = random.randint(0, i)
                attempt(lambda: check(w, picked))
                if sum(failed.values()) != before:
                    good = 0
                i += 1
                time.sleep(0.1)
        except Exception as e:
            errors.append("%s: %s" % (type(e).__name__, e))

    threads = [threading.Thread(target=work, args=(w,)) for w in range(4)]
    for t in threads:
        t.start()
    time.sleep(0.5)
    wait(r["check"])
    stop.set()
    for t in threads:
        t.join()
    if errors:
        raise AssertionError("%s; errors on the way: %s" % (errors, dict(failed)))
    for w, n in written.items():
        for i in range(n):
            attempt(lambda: check(w, i))
    r["detail"] = "%d rows, %d operations tried again %s" % (sum(written.values()), sum(failed.values()), dict(failed) or "")


def main():
    p = argparse.ArgumentParser()
    for name in ("points", "username", "password", "ca", "cert", "key", "keyspace", "compression", "checks"):
        p.add_argument("--" + name, default="")
    p.add_argument("--protocol", type=int, default=0)
    o = p.parse_args()
    try:
        program = Program(o)
    except Exception as e:
        say(check="connect", ok=False, detail="%s: %s" % (type(e).__name__, e))
        sys.exit(1)
    for check in o.checks.split(","):
        method = {"node-restart": "disturbed", "first-node-restart": "disturbed", "drained": "disturbed",
                  "member-lost": "disturbed", "member-back": "disturbed"}.get(check, check.replace("-", "_"))
        r = {"check": check, "ok": True}
        try:
            getattr(program, method)(r)
        except Exception as e:
            r["ok"] = False
            r["detail"] = ("%s: %s %s" % (type(e).__name__, e, r.get("detail", "")))[:2000]
        say(**r)
    program.cluster.shutdown()


main()
