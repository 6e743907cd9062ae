import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.ProtocolVersion;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchStatementBuilder;
import com.datastax.oss.driver.api.core.cql.BatchType;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.QueryTrace;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.data.CqlDuration;
import com.datastax.oss.driver.api.core.data.CqlVector;
import com.datastax.oss.driver.api.core.data.TupleValue;
import com.datastax.oss.driver.api.core.data.UdtValue;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.metadata.schema.TableMetadata;
import com.datastax.oss.driver.api.core.servererrors.AlreadyExistsException;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import com.datastax.oss.driver.api.core.servererrors.SyntaxError;
import com.datastax.oss.driver.api.core.type.TupleType;
import com.datastax.oss.driver.api.core.type.UserDefinedType;
import com.datastax.oss.driver.api.core.type.reflect.GenericType;
import com.datastax.oss.driver.api.core.uuid.Uuids;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Semaphore;

/** The checks that nothing disturbs. */
final class Statements {
  private final CqlSession session;
  private final String keyspace;
  private final int version;
  private final Map<String, String> options;

  Statements(CqlSession session, Map<String, String> options) {
    this.session = session;
    this.options = options;
    this.keyspace = options.get("keyspace");
    this.version = session.getContext().getProtocolVersion().getCode();
  }

  void addTo(Map<String, Main.Check> checks) {
    checks.put("connect", this::connect);
    checks.put("prepared", this::prepared);
    checks.put("batch", this::batch);
    checks.put("looked-up", r -> orders(k -> "note " + k));
    checks.put("masked", r -> orders(k -> "****"));
    checks.put("not-allowed", this::notAllowed);
    checks.put("paging", this::paging);
    checks.put("collections", this::collections);
    checks.put("udt", this::udt);
    checks.put("vector", this::vector);
    checks.put("lwt", this::lwt);
    checks.put("tracing", this::tracing);
    checks.put("warnings", this::warnings);
    checks.put("errors", this::errors);
    checks.put("use", this::use);
    checks.put("large", this::large);
    checks.put("concurrent", this::concurrent);
    checks.put("payload", this::payload);
    checks.put("speculative", this::speculative);
    checks.put("describe", this::describe);
    checks.put("metadata", this::metadata);
    checks.put("token-aware", this::tokenAware);
  }

  private void all(String... statements) {
    for (String s : statements) {
      session.execute(s);
    }
  }

  static void same(String what, Object got, Object want) {
    if (!Objects.equals(got, want)) {
      throw new AssertionError(what + ": got " + got + ", want " + want);
    }
  }

  private void connect(Map<String, Object> r) {
    String release = session.execute("SELECT release_version FROM system.local").one().getString(0);
    r.put("detail", "Cassandra " + release + ", v" + version + ", " + options.getOrDefault("compression", "not compressed"));
    List<String> hosts = new ArrayList<>();
    for (Node n : session.getMetadata().getNodes().values()) {
      InetSocketAddress at = (InetSocketAddress) n.getEndPoint().resolve();
      hosts.add(at.getAddress().getHostAddress() + ":" + at.getPort());
    }
    r.put("hosts", hosts);
  }

  private void prepared(Map<String, Object> r) throws Exception {
    // Version 3 has no date, smallint and tinyint, and version 4 no duration: the driver knows no codec for them there.
    String columns = "a b c d f g j l n o q r" + (version > 3 ? " e k p" : "") + (version > 4 ? " h" : "");
    String names = columns.replace(" ", ", "), markers = columns.replaceAll("\\w", "?").replace(" ", ", ");
    all("CREATE TABLE IF NOT EXISTS scalars (id int PRIMARY KEY, a ascii, b bigint, c blob, d boolean, e date, f decimal, g double, h duration,"
        + " i float, j inet, k smallint, l text, m time, n timestamp, o timeuuid, p tinyint, q uuid, r varint)");
    PreparedStatement insert = session.prepare("INSERT INTO scalars (id, " + names + ") VALUES (?, " + markers + ")");
    PreparedStatement select = session.prepare("SELECT " + names + " FROM scalars WHERE id = ?");
    Instant at = Instant.parse("2026-02-03T04:05:06.007Z");
    UUID one = Uuids.timeBased(), two = UUID.randomUUID();
    for (int i = 0; i < 100; i++) {
      List<Object> values = new ArrayList<>(List.of("plain", (long) i << 40, ByteBuffer.wrap(new byte[] {0, 1, (byte) i}), i % 2 == 0,
          new BigDecimal("1." + i), i / 3.0, InetAddress.getByName("127.0.0.1"), "käse 🧀", at, one, two, BigInteger.valueOf(i).shiftLeft(100)));
      if (version > 3) {
        values.addAll(List.of(LocalDate.of(2026, 2, 3), (short) i, (byte) i));
      }
      if (version > 4) {
        values.add(CqlDuration.newInstance(1, 2, i));
      }
      List<Object> bound = new ArrayList<>(values);
      bound.add(0, i);
      session.execute(insert.bind(bound.toArray()));
      Row row = session.execute(select.bind(i)).one();
      for (int c = 0; c < values.size(); c++) {
        same("column " + c, row.getObject(c), values.get(c));
      }
    }
    PreparedStatement partial = session.prepare("INSERT INTO scalars (id, a, l) VALUES (?, ?, ?)");
    BoundStatement b = partial.bind().setInt(0, 0).setToNull(1);
    session.execute(version > 3 ? b : b.setString(2, "käse 🧀"));
    Row row = session.execute("SELECT a, l FROM scalars WHERE id = 0").one();
    same("null", row.getString(0), null);
    same("unset", row.getString(1), "käse 🧀");
  }

  private void batch(Map<String, Object> r) {
    all("CREATE TABLE IF NOT EXISTS batches (id int PRIMARY KEY, v text)", "CREATE TABLE IF NOT EXISTS counters (id int PRIMARY KEY, n counter)",
        "TRUNCATE batches", "TRUNCATE counters");
    PreparedStatement insert = session.prepare("INSERT INTO batches (id, v) VALUES (?, ?)");
    int base = 0;
    for (BatchType kind : List.of(BatchType.LOGGED, BatchType.UNLOGGED)) {
      BatchStatementBuilder b = BatchStatement.builder(kind);
      for (int i = 0; i < 5; i++) {
        b.addStatement(insert.bind(base + i, "prepared"));
      }
      b.addStatement(SimpleStatement.newInstance("INSERT INTO batches (id, v) VALUES (" + (base + 5) + ", 'text')"));
      session.execute(b.build());
      base += 10;
    }
    PreparedStatement count = session.prepare("UPDATE counters SET n = n + ? WHERE id = ?");
    session.execute(BatchStatement.newInstance(BatchType.COUNTER, count.bind(3L, 1), count.bind(4L, 1)));
    same("rows", session.execute("SELECT count(*) FROM batches").one().getLong(0), 12L);
    same("counter", session.execute("SELECT n FROM counters WHERE id = 1").one().getLong(0), 7L);
  }

  private void paging(Map<String, Object> r) {
    all("CREATE TABLE IF NOT EXISTS pages (k int, c int, v text, PRIMARY KEY (k, c))");
    PreparedStatement insert = session.prepare("INSERT INTO pages (k, c, v) VALUES (1, ?, ?)");
    for (int from = 0; from < 1000; from += 100) {
      BatchStatementBuilder b = BatchStatement.builder(BatchType.UNLOGGED);
      for (int i = from; i < from + 100; i++) {
        b.addStatement(insert.bind(i, "x".repeat(i % 50)));
      }
      session.execute(b.build());
    }
    PreparedStatement select = session.prepare("SELECT c FROM pages WHERE k = ?");
    int next = 0;
    for (Row row : session.execute(select.bind(1).setPageSize(77))) {
      same("row", row.getInt(0), next++);
    }
    same("rows", next, 1000);
    int pages = 0;
    next = 0;
    ByteBuffer state = null;
    do {
      ResultSet page = session.execute(select.bind(1).setPageSize(300).setPagingState(state));
      state = page.getExecutionInfo().getPagingState();
      for (int n = page.getAvailableWithoutFetching(); n > 0; n--) {
        same("row by hand", page.one().getInt(0), next++);
      }
      pages++;
    } while (state != null);
    same("rows by hand", next, 1000);
    same("pages", pages, 4);
  }

  private void collections(Map<String, Object> r) {
    all("CREATE TABLE IF NOT EXISTS collected (id int PRIMARY KEY, l list<int>, s set<text>, m map<text, bigint>,"
        + " n map<int, frozen<list<text>>>, t tuple<int, text>, e set<int>)");
    PreparedStatement insert = session.prepare("INSERT INTO collected (id, l, s, m, n, t, e) VALUES (1, ?, ?, ?, ?, ?, ?)");
    TupleType type = (TupleType) insert.getVariableDefinitions().get("t").getType();
    TupleValue t = type.newValue(7, "seven");
    List<Object> values = List.of(List.of(3, 1, 2), Set.of("a", "b"), Map.of("x", 1L, "y", 1L << 40),
        Map.of(1, List.of("one", "eins"), 2, List.of("two")), t, Set.of());
    session.execute(insert.bind(values.toArray()));
    Row row = session.execute(session.prepare("SELECT l, s, m, n, t, e FROM collected WHERE id = ?").bind(1)).one();
    for (int i = 0; i < values.size(); i++) {
      Object got = row.getObject(i);
      same("collection " + i, got == null ? Set.of() : got, values.get(i));
    }
  }

  private void udt(Map<String, Object> r) {
    all("CREATE TYPE IF NOT EXISTS address (street text, number int, phones frozen<map<text, text>>)",
        "CREATE TABLE IF NOT EXISTS people (id int PRIMARY KEY, home frozen<address>, others list<frozen<address>>)");
    PreparedStatement insert = session.prepare("INSERT INTO people (id, home, others) VALUES (?, ?, ?)");
    UserDefinedType type = (UserDefinedType) insert.getVariableDefinitions().get("home").getType();
    UdtValue home = type.newValue("Long Street", 12, Map.of("home", "1234"));
    List<UdtValue> others = List.of(type.newValue("Short Street", 1, Map.of()), home);
    session.execute(insert.bind(1, home, others));
    Row row = session.execute(session.prepare("SELECT home, others FROM people WHERE id = ?").bind(1)).one();
    same("type", row.getUdtValue(0).getFormattedContents(), home.getFormattedContents());
    same("list of types", row.getList(1, UdtValue.class).get(0).getFormattedContents(), others.get(0).getFormattedContents());
  }

  private void vector(Map<String, Object> r) {
    all("CREATE TABLE IF NOT EXISTS vectors (id int PRIMARY KEY, v vector<float, 3>)");
    CqlVector<Float> v = CqlVector.newInstance(1.5f, 2.5f, -3f);
    session.execute(session.prepare("INSERT INTO vectors (id, v) VALUES (?, ?)").bind(1, v));
    Row row = session.execute(session.prepare("SELECT v FROM vectors WHERE id = ?").bind(1)).one();
    same("vector", row.get(0, GenericType.vectorOf(Float.class)), v);
  }

  private void lwt(Map<String, Object> r) {
    all("CREATE TABLE IF NOT EXISTS locks (id int PRIMARY KEY, owner text)", "DELETE FROM locks WHERE id = 1");
    PreparedStatement insert = session.prepare("INSERT INTO locks (id, owner) VALUES (?, ?) IF NOT EXISTS");
    same("applied", session.execute(insert.bind(1, "me")).wasApplied(), true);
    ResultSet second = session.execute(insert.bind(1, "me"));
    same("applied again", second.wasApplied(), false);
    same("owner", second.one().getString("owner"), "me");
    PreparedStatement update = session.prepare("UPDATE locks SET owner = ? WHERE id = ? IF owner = ?");
    same("update applied", session.execute(update.bind("you", 1, "me")).wasApplied(), true);
    SimpleStatement serial = SimpleStatement.newInstance("SELECT owner FROM locks WHERE id = 1").setConsistencyLevel(DefaultConsistencyLevel.SERIAL);
    same("owner, read at SERIAL", session.execute(serial).one().getString(0), "you");
  }

  private void tracing(Map<String, Object> r) throws InterruptedException {
    ResultSet rs = session.execute(SimpleStatement.newInstance("SELECT release_version FROM system.local").setTracing(true));
    QueryTrace trace = rs.getExecutionInfo().getQueryTrace();
    for (int i = 0; i < 300 && trace.getEvents().isEmpty(); i++) { // Cassandra writes them beside the session
      Thread.sleep(200);
      trace = rs.getExecutionInfo().getQueryTrace();
    }
    r.put("detail", "coordinator " + trace.getCoordinatorAddress() + ", " + trace.getEvents().size() + " events");
    same("no events", trace.getEvents().isEmpty(), false);
  }

  private void warnings(Map<String, Object> r) {
    all("CREATE TABLE IF NOT EXISTS batches (id int PRIMARY KEY, v text)");
    StringBuilder text = new StringBuilder("BEGIN UNLOGGED BATCH ");
    for (int i = 1000; i < 1020; i++) {
      text.append("INSERT INTO batches (id, v) VALUES (").append(i).append(", 'w'); ");
    }
    List<String> got = session.execute(text + "APPLY BATCH").getExecutionInfo().getWarnings();
    r.put("detail", got.isEmpty() ? "" : got.get(0).substring(0, 40));
    same("no warning of an unlogged batch over 20 partitions", got.isEmpty(), version == 3);
  }

  private static final String BY_OWNER = "SELECT id, note FROM orders WHERE owner = ? ALLOW FILTERING";

  private void orders(java.util.function.IntFunction<String> noted) {
    PreparedStatement select = session.prepare(BY_OWNER);
    for (int i = 0; i < 300; i++) {
      int n = i % 110;
      java.util.TreeMap<Integer, String> got = new java.util.TreeMap<>();
      java.util.TreeMap<Integer, String> want = new java.util.TreeMap<>();
      for (Row row : session.execute(select.bind("owner " + n))) {
        got.put(row.getInt(0), row.getString(1));
      }
      for (int k = n; k < 400 && n < 100; k += 100) {
        want.put(k, noted.apply(k));
      }
      same("orders of " + n, got, want);
    }
  }

  private void notAllowed(Map<String, Object> r) {
    PreparedStatement select = session.prepare(BY_OWNER);
    for (int i = 0; i < 300; i++) {
      try {
        session.execute(select.bind("owner " + i % 110));
      } catch (com.datastax.oss.driver.api.core.servererrors.UnauthorizedException e) {
        r.put("detail", e.getMessage());
        continue;
      }
      throw new AssertionError("the orders of " + i % 110 + " were told");
    }
  }

  private void errors(Map<String, Object> r) {
    Map<String, Class<?>> wrong = Map.of("SELEKT", SyntaxError.class, "SELECT x FROM nosuchtable", InvalidQueryException.class,
        "CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", AlreadyExistsException.class);
    wrong.forEach((statement, kind) -> {
      try {
        session.execute(statement);
      } catch (RuntimeException e) {
        same(statement, e.getClass(), kind);
        return;
      }
      throw new AssertionError(statement + " was accepted");
    });
    all("SELECT release_version FROM system.local");
  }

  private void use(Map<String, Object> r) throws Exception {
    String name = keyspace.substring(0, 1).toUpperCase() + keyspace.substring(1) + "_Use";
    all("CREATE KEYSPACE IF NOT EXISTS \"" + name + "\" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE IF NOT EXISTS \"" + name + "\".only_here (id int PRIMARY KEY)");
    try (CqlSession other = Main.connect(options, options.get("password"), null)) {
      other.execute("USE \"" + name + "\"");
      PreparedStatement insert = other.prepare("INSERT INTO only_here (id) VALUES (?)");
      for (int i = 0; i < 20; i++) {
        other.execute(insert.bind(i));
      }
      same("rows", other.execute("SELECT count(*) FROM only_here").one().getLong(0), 20L);
    }
    try {
      session.execute("SELECT * FROM only_here");
      throw new AssertionError("the first session is in the second's keyspace");
    } catch (InvalidQueryException e) {
      // as it should be
    }
    if (version >= ProtocolVersion.V5.getCode()) {
      SimpleStatement named = SimpleStatement.newInstance("SELECT count(*) FROM only_here").setKeyspace(CqlIdentifier.fromInternal(name));
      same("rows, keyspace named by the request", session.execute(named).one().getLong(0), 20L);
    }
  }

  private void large(Map<String, Object> r) {
    all("CREATE TABLE IF NOT EXISTS large (id int PRIMARY KEY, v blob)");
    PreparedStatement insert = session.prepare("INSERT INTO large (id, v) VALUES (?, ?)"), select = session.prepare("SELECT v FROM large WHERE id = ?");
    int i = 0;
    for (int size : new int[] {100, 130_000, 140_000, 1 << 20, 3 << 20}) {
      byte[] v = new byte[size];
      for (int at = 0; at < size; at++) {
        v[at] = (byte) (at % 7 + i);
      }
      session.execute(insert.bind(i, ByteBuffer.wrap(v)));
      same("blob of " + size + " bytes is itself", session.execute(select.bind(i)).one().getByteBuffer(0).equals(ByteBuffer.wrap(v)), true);
      i++;
    }
  }

  private void concurrent(Map<String, Object> r) throws Exception {
    all("CREATE TABLE IF NOT EXISTS many (id int PRIMARY KEY, v text)");
    PreparedStatement insert = session.prepare("INSERT INTO many (id, v) VALUES (?, ?)"), select = session.prepare("SELECT v FROM many WHERE id = ?");
    Semaphore room = new Semaphore(128);
    List<CompletionStage<AsyncResultSet>> written = new ArrayList<>(), read = new ArrayList<>();
    for (int i = 0; i < 2560; i++) {
      room.acquire();
      written.add(session.executeAsync(insert.bind(i, "value " + i)).whenComplete((rows, e) -> room.release()));
    }
    for (CompletionStage<AsyncResultSet> w : written) {
      w.toCompletableFuture().get();
    }
    for (int i = 0; i < 2560; i++) {
      room.acquire();
      read.add(session.executeAsync(select.bind(i)).whenComplete((rows, e) -> room.release()));
    }
    for (int i = 0; i < 2560; i++) {
      same("value", read.get(i).toCompletableFuture().get().one().getString(0), "value " + i);
    }
  }

  private void payload(Map<String, Object> r) {
    if (version > 3) {
      session.execute(SimpleStatement.newInstance("SELECT release_version FROM system.local")
          .setCustomPayload(Map.of("who", ByteBuffer.wrap(new byte[] {1, 2, 3}))));
    }
  }

  private void speculative(Map<String, Object> r) {
    all("CREATE TABLE IF NOT EXISTS many (id int PRIMARY KEY, v text)", "INSERT INTO many (id, v) VALUES (-1, 'speculated')");
    PreparedStatement select = session.prepare("SELECT v FROM many WHERE id = ?");
    int speculated = 0;
    for (int i = 0; i < 200; i++) {
      ResultSet rs = session.execute(select.bind(-1).setIdempotent(true).setExecutionProfileName("speculative"));
      speculated += rs.getExecutionInfo().getSpeculativeExecutionCount();
      same("value", rs.one().getString(0), "speculated");
    }
    r.put("detail", speculated + " speculative executions");
  }

  private void describe(Map<String, Object> r) {
    all("CREATE TABLE IF NOT EXISTS batches (id int PRIMARY KEY, v text)");
    String text = session.execute("DESCRIBE TABLE " + keyspace + ".batches").one().getString("create_statement");
    same("it says " + text, text.contains("CREATE TABLE " + keyspace + ".batches"), true);
  }

  private void metadata(Map<String, Object> r) {
    all("CREATE TABLE IF NOT EXISTS described (a int, b text, c text, v bigint, PRIMARY KEY ((a, b), c))");
    TableMetadata t = session.getMetadata().getKeyspace(keyspace).get().getTable("described").get();
    same("description", t.getPartitionKey().size() + " " + t.getClusteringColumns().size() + " " + t.getColumns().size(), "2 1 4");
  }

  private void tokenAware(Map<String, Object> r) {
    String table = keyspace + "_one.keyed";
    all("CREATE TABLE IF NOT EXISTS " + table + " (id int PRIMARY KEY, v int)");
    PreparedStatement insert = session.prepare("INSERT INTO " + table + " (id, v) VALUES (?, ?)"), select = session.prepare("SELECT v FROM " + table + " WHERE id = ?");
    for (int i = 0; i < 1000; i++) {
      session.execute(insert.bind(i, i));
    }
    List<List<String>> reads = new ArrayList<>(), traces = new ArrayList<>();
    for (Row row : session.execute("SELECT id, token(id) FROM " + table).all()) {
      String token = String.valueOf(row.getLong(1));
      boolean trace = traces.size() < 20;
      ResultSet rs = session.execute(select.bind(row.getInt(0)).setConsistencyLevel(DefaultConsistencyLevel.ONE).setTracing(trace));
      same("row", rs.one().getInt(0), row.getInt(0));
      reads.add(List.of(token, String.valueOf(rs.getExecutionInfo().getCoordinator().getHostId())));
      if (trace) {
        traces.add(List.of(token, rs.getExecutionInfo().getQueryTrace().getCoordinatorAddress().getAddress().getHostAddress()));
      }
    }
    r.put("reads", reads);
    r.put("traces", traces);
  }
}
