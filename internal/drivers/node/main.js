// The conformance checks with the Node.js driver, as an ordinary application; internal/drivers says what each check means.
'use strict';
const cassandra = require('cassandra-driver');
const fs = require('fs');
const readline = require('readline');
const { types } = cassandra;

const say = (line) => process.stdout.write(JSON.stringify(line) + '\n');
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// patience is how many milliseconds anything is waited for, retries included: far beyond what a busy machine needs.
const patience = 300000;

const options = {};
for (let i = 2; i + 1 < process.argv.length; i += 2) {
  options[process.argv[i].slice(2)] = process.argv[i + 1];
}
const keyspace = options.keyspace;

const input = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();

// wait says that a check waits to be disturbed, and returns when the harness is done.
async function wait(check) {
  say({ ready: check, ok: true });
  await input.next();
}

async function poll(what, done) {
  for (const end = Date.now() + patience; !(await done()); await sleep(100)) {
    if (Date.now() > end) {
      throw new Error(`waited ${patience / 1000} s in vain until ${what}`);
    }
  }
}

function same(what, got, want) {
  const text = (v) => JSON.stringify(v, (k, x) => (typeof x === 'bigint' ? String(x) : x));
  if (text(got) !== text(want)) {
    throw new Error(`${what}: got ${text(got)}, want ${text(want)}`);
  }
}

function connection(password, speculativeExecution, certificate = true) {
  const o = {
    contactPoints: options.points.split(','),
    localDataCenter: 'datacenter1',
    keyspace,
    protocolOptions: { maxSchemaAgreementWaitSeconds: patience / 1000, port: Number(options.points.split(':').pop()) }, // all nodes'; it reads none
    socketOptions: { connectTimeout: 60000, readTimeout: 60000 },
    queryOptions: { prepare: true, consistency: types.consistencies.quorum },
    policies: { reconnection: new cassandra.policies.reconnection.ExponentialReconnectionPolicy(500, 5000) },
  };
  if (speculativeExecution) { // the driver takes an undefined policy for one
    o.policies.speculativeExecution = speculativeExecution;
  }
  if (options.protocol && options.protocol !== '0') {
    o.protocolOptions.maxVersion = Number(options.protocol);
  }
  if (options.username) {
    o.authProvider = new cassandra.auth.PlainTextAuthProvider(options.username, password);
  }
  if (options.ca) {
    o.sslOptions = { ca: [fs.readFileSync(options.ca)], rejectUnauthorized: true };
    if (options.cert && certificate) {
      o.sslOptions.cert = fs.readFileSync(options.cert);
      o.sslOptions.key = fs.readFileSync(options.key);
    }
  }
  return new cassandra.Client(o);
}

const client = connection(options.password);
const down = [];
const up = [];
client.on('hostDown', (host) => down.push(String(host.hostId)));
client.on('hostUp', (host) => up.push(String(host.hostId)));

const version = () => client.controlConnection.protocolVersion;

async function all(...statements) {
  for (const s of statements) {
    await client.execute(s, [], { prepare: false });
  }
}

async function orders(noted) {
  for (let i = 0; i < 300; i++) {
    const n = i % 110;
    const rs = await client.execute('SELECT id, note FROM orders WHERE owner = ? ALLOW FILTERING', [`owner ${n}`], { prepare: true });
    const want = n < 100 ? [n, n + 100, n + 200, n + 300].map((k) => [k, noted(k)]) : [];
    same(`orders of ${n}`, rs.rows.map((row) => [row.id, row.note]).sort((a, b) => a[0] - b[0]), want);
  }
}

const checks = {
  async connect(r) {
    const rs = await client.execute('SELECT release_version FROM system.local', [], { prepare: false });
    r.detail = `Cassandra ${rs.first().release_version}, v${version()}`;
    r.hosts = client.hosts.values().map((h) => h.address).sort();
  },

  async prepared() {
    await all(`CREATE TABLE IF NOT EXISTS scalars (id int PRIMARY KEY, a ascii, b bigint, c blob, d boolean, e date, f decimal, g double,
      i float, j inet, k smallint, l text, m time, n timestamp, o timeuuid, p tinyint, q uuid, r varint)`);
    const at = new Date('2026-02-03T04:05:06.007Z');
    const one = types.TimeUuid.now();
    const two = types.Uuid.random();
    for (let i = 0; i < 100; i++) {
      const values = ['plain', types.Long.fromNumber(i * 2 ** 40), Buffer.from([0, 1, i]), i % 2 === 0,
        types.BigDecimal.fromString('1.' + i), i / 3, types.InetAddress.fromString('127.0.0.1'), 'käse 🧀', at, one, two, types.Integer.fromString('1' + '0'.repeat(i))];
      let columns = 'a, b, c, d, f, g, j, l, n, o, q, r';
      if (version() > 3) { // before, there is no date, smallint and tinyint
        values.push(types.LocalDate.fromString('2026-02-03'), i, i);
        columns += ', e, k, p';
      }
      await client.execute(`INSERT INTO scalars (id, ${columns}) VALUES (?${', ?'.repeat(values.length)})`, [i, ...values]);
      const row = (await client.execute(`SELECT ${columns} FROM scalars WHERE id = ?`, [i])).first();
      same('row', row.values(), values);
    }
    await client.execute('INSERT INTO scalars (id, a, l) VALUES (?, ?, ?)', [0, null, version() > 3 ? types.unset : 'käse 🧀']);
    const row = (await client.execute('SELECT a, l FROM scalars WHERE id = ?', [0])).first();
    same('null and unset', row.values(), [null, 'käse 🧀']);
  },

  async batch() {
    await all('CREATE TABLE IF NOT EXISTS batches (id int PRIMARY KEY, v text)', 'CREATE TABLE IF NOT EXISTS counters (id int PRIMARY KEY, n counter)',
      'TRUNCATE batches', 'TRUNCATE counters');
    for (const logged of [true, false]) {
      const base = logged ? 0 : 10;
      const queries = [...Array(6).keys()].map((i) => ({ query: 'INSERT INTO batches (id, v) VALUES (?, ?)', params: [base + i, 'prepared'] }));
      await client.batch(queries, { logged, prepare: true });
    }
    await client.batch([`INSERT INTO batches (id, v) VALUES (20, 'text')`], { prepare: false });
    const count = 'UPDATE counters SET n = n + ? WHERE id = ?';
    await client.batch([{ query: count, params: [3, 1] }, { query: count, params: [4, 1] }], { counter: true, prepare: true });
    same('rows', Number((await client.execute('SELECT count(*) AS n FROM batches')).first().n), 13);
    same('counter', Number((await client.execute('SELECT n FROM counters WHERE id = 1')).first().n), 7);
  },

  async paging() {
    await all('CREATE TABLE IF NOT EXISTS pages (k int, c int, v text, PRIMARY KEY (k, c))');
    for (let from = 0; from < 1000; from += 100) {
      const queries = [...Array(100).keys()].map((i) => ({ query: 'INSERT INTO pages (k, c, v) VALUES (1, ?, ?)', params: [from + i, 'x'.repeat(i % 50)] }));
      await client.batch(queries, { logged: false, prepare: true });
    }
    let next = 0;
    for await (const row of await client.execute('SELECT c FROM pages WHERE k = ?', [1], { prepare: true, fetchSize: 77 })) {
      same('row', row.c, next++);
    }
    same('rows', next, 1000);
    let pages = 0;
    let pageState;
    next = 0;
    do {
      const rs = await client.execute('SELECT c FROM pages WHERE k = ?', [1], { prepare: true, fetchSize: 300, pageState });
      rs.rows.forEach((row) => same('row by hand', row.c, next++));
      pageState = rs.pageState;
      pages++;
    } while (pageState);
    same('rows and pages by hand', [next, pages], [1000, 4]);
  },

  async collections() {
    await all(`CREATE TABLE IF NOT EXISTS collected (id int PRIMARY KEY, l list<int>, s set<text>, m map<text, bigint>,
      n map<int, frozen<list<text>>>, t tuple<int, text>, e set<int>)`);
    const values = [[3, 1, 2], ['a', 'b'], { x: 1, y: 2 ** 40 }, { 1: ['one', 'eins'], 2: ['two'] }, new types.Tuple(7, 'seven'), []];
    await client.execute('INSERT INTO collected (id, l, s, m, n, t, e) VALUES (1, ?, ?, ?, ?, ?, ?)', values);
    const row = (await client.execute('SELECT l, s, m, n, t, e FROM collected WHERE id = ?', [1])).first();
    same('lists and sets', [row.l, row.s, row.e || []], [values[0], values[1], []]);
    same('maps', [Number(row.m.x), Number(row.m.y), row.n], [1, 2 ** 40, values[3]]);
    same('tuple', row.t.values(), values[4].values());
  },

  async udt() {
    await all('CREATE TYPE IF NOT EXISTS address (street text, number int, phones frozen<map<text, text>>)',
      'CREATE TABLE IF NOT EXISTS people (id int PRIMARY KEY, home frozen<address>, others list<frozen<address>>)');
    const home = { street: 'Long Street', number: 12, phones: { home: '1234' } };
    const others = [{ street: 'Short Street', number: 1, phones: { a: 'b' } }, home];
    await client.execute('INSERT INTO people (id, home, others) VALUES (?, ?, ?)', [1, home, others]);
    const row = (await client.execute('SELECT home, others FROM people WHERE id = ?', [1])).first();
    same('types', [row.home, row.others], [home, others]);
  },

  async vector() {
    await all('CREATE TABLE IF NOT EXISTS vectors (id int PRIMARY KEY, v vector<float, 3>)');
    await client.execute('INSERT INTO vectors (id, v) VALUES (?, ?)', [1, new types.Vector([1.5, 2.5, -3], 'float')]);
    const row = (await client.execute('SELECT v FROM vectors WHERE id = ?', [1])).first();
    same('vector', [...row.v], [1.5, 2.5, -3]);
  },

  async lwt() {
    await all('CREATE TABLE IF NOT EXISTS locks (id int PRIMARY KEY, owner text)', 'DELETE FROM locks WHERE id = 1');
    const insert = () => client.execute('INSERT INTO locks (id, owner) VALUES (?, ?) IF NOT EXISTS', [1, 'me']);
    same('applied', [(await insert()).wasApplied(), (await insert()).wasApplied()], [true, false]);
    same('applied', (await client.execute('UPDATE locks SET owner = ? WHERE id = ? IF owner = ?', ['you', 1, 'me'])).wasApplied(), true);
    const rs = await client.execute('SELECT owner FROM locks WHERE id = 1', [], { consistency: types.consistencies.serial });
    same('owner, read at SERIAL', rs.first().owner, 'you');
  },

  async tracing(r) {
    const rs = await client.execute('SELECT release_version FROM system.local', [], { traceQuery: true });
    const t = await trace(rs.info.traceId);
    r.detail = `coordinator ${t.coordinator}, ${t.events.length} events`;
    same('no events', t.events.length === 0, false);
  },

  async warnings(r) {
    await all('CREATE TABLE IF NOT EXISTS batches (id int PRIMARY KEY, v text)');
    const text = [...Array(20).keys()].map((i) => `INSERT INTO batches (id, v) VALUES (${1000 + i}, 'w'); `).join('');
    const rs = await client.execute(`BEGIN UNLOGGED BATCH ${text} APPLY BATCH`, [], { prepare: false });
    r.detail = String(rs.info.warnings).slice(0, 60);
    if (version() > 3 && !(rs.info.warnings || []).length) {
      throw new Error('an unlogged batch over 20 partitions came without a warning');
    }
  },

  'looked-up': () => orders((k) => `note ${k}`),

  masked: () => orders(() => '****'),

  async 'not-allowed'(r) {
    for (let i = 0; i < 300; i++) {
      const got = await client.execute('SELECT id, note FROM orders WHERE owner = ? ALLOW FILTERING', [`owner ${i % 110}`], { prepare: true }).then(() => 'told', (e) => {
        r.detail = e.message;
        return e.code;
      });
      same('the orders', got, types.responseErrorCodes.unauthorized);
    }
  },

  async errors() {
    const codes = types.responseErrorCodes;
    for (const [statement, code] of [['SELEKT', codes.syntaxError], ['SELECT x FROM nosuchtable', codes.invalid],
      [`CREATE KEYSPACE ${keyspace} WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`, codes.alreadyExists]]) {
      const got = await client.execute(statement, [], { prepare: false }).then(() => 'accepted', (e) => e.code);
      same(statement, got, code);
    }
    await all('SELECT release_version FROM system.local');
  },

  async use() {
    const name = keyspace[0].toUpperCase() + keyspace.slice(1) + '_Use';
    await all(`CREATE KEYSPACE IF NOT EXISTS "${name}" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`,
      `CREATE TABLE IF NOT EXISTS "${name}".only_here (id int PRIMARY KEY)`);
    const other = connection(options.password);
    try {
      await other.execute(`USE "${name}"`, [], { prepare: false });
      for (let i = 0; i < 20; i++) {
        await other.execute('INSERT INTO only_here (id) VALUES (?)', [i]);
      }
      same('rows', Number((await other.execute('SELECT count(*) AS n FROM only_here')).first().n), 20);
    } finally {
      await other.shutdown();
    }
    if (await all('SELECT * FROM only_here').then(() => true, () => false)) {
      throw new Error("the first session is in the second's keyspace");
    }
  },

  async large() {
    await all('CREATE TABLE IF NOT EXISTS large (id int PRIMARY KEY, v blob)');
    for (const [i, size] of [100, 130000, 140000, 1 << 20, 3 << 20].entries()) {
      const v = Buffer.alloc(size, Buffer.from([i, 1, 2, 3, 5, 8, 13]));
      await client.execute('INSERT INTO large (id, v) VALUES (?, ?)', [i, v]);
      const got = (await client.execute('SELECT v FROM large WHERE id = ?', [i])).first().v;
      same(`a blob of ${size} bytes is itself`, got.equals(v), true);
    }
  },

  async concurrent() {
    await all('CREATE TABLE IF NOT EXISTS many (id int PRIMARY KEY, v text)');
    const ids = [...Array(2560).keys()];
    const settings = { concurrencyLevel: 128, collectResults: true };
    await cassandra.concurrent.executeConcurrent(client, 'INSERT INTO many (id, v) VALUES (?, ?)', ids.map((i) => [i, `value ${i}`]), settings);
    const got = await cassandra.concurrent.executeConcurrent(client, 'SELECT v FROM many WHERE id = ?', ids.map((i) => [i]), settings);
    ids.forEach((i) => same('value', got.resultItems[i].first().v, `value ${i}`));
  },

  async payload() {
    if (version() > 3) {
      await client.execute('SELECT release_version FROM system.local', [], { customPayload: { who: Buffer.from('helenus') } });
    }
  },

  async speculative() {
    await all('CREATE TABLE IF NOT EXISTS many (id int PRIMARY KEY, v text)', `INSERT INTO many (id, v) VALUES (-1, 'speculated')`);
    const other = connection(options.password, new cassandra.policies.speculativeExecution.ConstantSpeculativeExecutionPolicy(1, 2));
    await other.connect();
    try {
      for (let i = 0; i < 200; i++) {
        same('value', (await other.execute('SELECT v FROM many WHERE id = ?', [-1], { isIdempotent: true })).first().v, 'speculated');
      }
    } finally {
      await other.shutdown();
    }
  },

  async describe() {
    await all('CREATE TABLE IF NOT EXISTS batches (id int PRIMARY KEY, v text)');
    const row = (await client.execute(`DESCRIBE TABLE ${keyspace}.batches`, [], { prepare: false })).first();
    same(`it says ${row.create_statement}`, row.create_statement.includes(`CREATE TABLE ${keyspace}.batches`), true);
  },

  async metadata() {
    await all('CREATE TABLE IF NOT EXISTS described (a int, b text, c text, v bigint, PRIMARY KEY ((a, b), c))');
    const t = await client.metadata.getTable(keyspace, 'described');
    same('description', [t.partitionKeys.length, t.clusteringKeys.length, t.columns.length], [2, 1, 4]);
  },

  async 'token-aware'(r) {
    const table = `${keyspace}_one.keyed`;
    await all(`CREATE TABLE IF NOT EXISTS ${table} (id int PRIMARY KEY, v int)`);
    for (let i = 0; i < 1000; i++) {
      await client.execute(`INSERT INTO ${table} (id, v) VALUES (?, ?)`, [i, i]);
    }
    r.reads = [];
    r.traces = [];
    const tokens = await client.execute(`SELECT id, token(id) AS place FROM ${table}`, [], { prepare: false, fetchSize: 5000 });
    for (const { id, place: token } of tokens.rows) {
      const traceQuery = r.traces.length < 20;
      const rs = await client.execute(`SELECT v FROM ${table} WHERE id = ?`, [id], { prepare: true, consistency: types.consistencies.one, traceQuery });
      same('row', rs.first().v, id);
      r.reads.push([String(token), String(client.hosts.get(rs.info.queriedHost).hostId)]);
      if (traceQuery) {
        r.traces.push([String(token), String((await trace(rs.info.traceId)).coordinator)]);
      }
    }
  },

  async events() {
    if (await has('seen', 'id')) {
      throw new Error('the table is there already');
    }
    await wait('events');
    await poll('the new table is known', () => has('seen', 'id'));
  },

  async 'schema-under-load'(r) {
    await client.metadata.getTable(keyspace, 'load').catch(() => null);
    await load(r);
    await poll('the new column is known', () => has('load', 'z_added'));
  },

  'node-restart': load,
  'first-node-restart': load,
  drained: load,
  'member-lost': load,
  'member-back': load,

  // The load of a session that lasts, while sessions come and go.
  async 'taken-over'(r) {
    let stop = false;
    let good = 0;
    let refused = '';
    const failed = {};
    const visits = (async () => {
      for (let end; ; await sleep(50)) {
        const last = stop;
        if (last && !end) {
          end = Date.now() + patience;
        }
        const visitor = connection(options.password);
        try {
          await visitor.connect();
          await visitor.execute('SELECT release_version FROM system.local', [], { prepare: false });
          good++;
          if (last) {
            return;
          }
        } catch (e) {
          const text = causes(e);
          failed[text.slice(0, 300)] = (failed[text.slice(0, 300)] || 0) + 1;
          if (text.includes('ECONNREFUSED') || (last && Date.now() > end)) {
            refused = `after ${good} visits: ${text}`;
            return;
          }
        } finally {
          await visitor.shutdown().catch(() => null);
        }
      }
    })();
    try {
      await load(r);
    } finally {
      stop = true;
      await visits;
    }
    r.detail = `${good} visits; ${r.detail}${Object.keys(failed).length ? '; visits failed: ' + JSON.stringify(failed) : ''}`;
    if (refused) {
      throw new Error(refused);
    }
  },

  async 'node-added'(r) {
    const before = client.hosts.length;
    await load(r);
    await poll('the new node is known', () => client.hosts.length === before + 1);
  },

  async 'no-certificate'(r) {
    const other = connection(options.password, undefined, false);
    const text = await other.connect().then(() => 'who has no certificate was let in', causes);
    await other.shutdown();
    r.detail = text.slice(0, 200);
    if (!text.includes('certificate required')) {
      throw new Error('the refusal does not say why');
    }
  },

  async 'wrong-password'(r) {
    const other = connection('wrong');
    const text = await other.connect().then(() => '', causes);
    await other.shutdown();
    r.detail = text.slice(0, 120);
    if (!text.includes('incorrect')) {
      throw new Error('the refusal does not say why');
    }
  },
};

// causes is what an error says, and what each host said.
function causes(e) {
  return String(e) + JSON.stringify(e.innerErrors, (k, v) => (v instanceof Error ? v.message : v));
}

// trace reads a trace; Cassandra writes it a little later than it answers.
async function trace(id) {
  let found;
  await poll('the trace is complete', async () => {
    found = await client.metadata.getTrace(id, types.consistencies.one).catch(() => null);
    return found !== null && found.coordinator !== null && found.events.length > 0; // they are written beside it
  });
  return found;
}

async function has(table, column) {
  const t = await client.metadata.getTable(keyspace, table).catch(() => null);
  return Boolean(t && t.columnsByName[column]);
}

class Wrong extends Error {}

// load writes rows and reads them back from several workers while the harness disturbs; what fails is tried again.
async function load(r) {
  await all('CREATE TABLE IF NOT EXISTS load (id text PRIMARY KEY, v bigint)');
  down.length = up.length = 0;
  const name = `${r.check}-${Date.now()}`;
  const failures = {};
  let failed = 0;
  let stop = false;
  const written = [0, 0, 0, 0];

  async function attempt(op) {
    for (const end = Date.now() + patience; ;) {
      try {
        return await op();
      } catch (e) {
        if (e instanceof Wrong || Date.now() > end) {
          throw e;
        }
        failed++;
        const text = String(e).slice(0, 120);
        failures[text] = (failures[text] || 0) + 1;
        await sleep(50);
      }
    }
  }
  const write = (w, i) => client.execute('INSERT INTO load (id, v) VALUES (?, ?)', [`${name}-${w}-${i}`, types.Long.fromNumber(i * 7 + w)], { prepare: true, isIdempotent: true });
  async function check(w, i) {
    const row = (await client.execute('SELECT * FROM load WHERE id = ?', [`${name}-${w}-${i}`], { prepare: true, isIdempotent: true })).first();
    if (!row || Number(row.v) !== i * 7 + w) {
      throw new Wrong(`wrong answer: row ${w}-${i} says ${row && row.v}, written was ${i * 7 + w}`);
    }
  }
  async function work(w) {
    let good = 0;
    for (let i = 0; good < 50; i++) {
      if (stop) {
        good++;
      }
      const before = failed;
      await attempt(() => write(w, i));
      written[w] = i + 1;
      const picked = Math.floor(Math.random() * (i + 1));
      await attempt(() => check(w, picked));
      if (failed !== before) {
        good = 0;
      }
      await sleep(100);
    }
  }
  const workers = Promise.all(written.map((_, w) => work(w)));
  workers.catch(() => null); // it is reported below
  await sleep(500);
  await wait(r.check);
  stop = true;
  await workers;
  for (let w = 0; w < written.length; w++) {
    for (let i = 0; i < written[w]; i++) {
      await attempt(() => check(w, i));
    }
  }
  r.detail = `${written.reduce((a, b) => a + b)} rows, ${failed} operations tried again ${failed ? JSON.stringify(failures) : ''}`;
  r.down = [...down];
  r.up = [...up];
}

async function main() {
  try {
    await client.connect();
  } catch (e) {
    say({ check: 'connect', ok: false, detail: String(e) + JSON.stringify(e.innerErrors) });
    process.exit(1);
  }
  for (const check of options.checks.split(',')) {
    const r = { check, ok: true };
    try {
      if (!checks[check]) {
        throw new Error('no such check');
      }
      await checks[check](r);
    } catch (e) {
      r.ok = false;
      r.detail = `${e.stack} ${r.detail || ''}`.slice(0, 2000);
    }
    say(r);
  }
  await client.shutdown();
  process.exit(0);
}

main();
