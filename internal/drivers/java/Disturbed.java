import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/** The checks that the harness disturbs. */
final class Disturbed {
  private static final int WORKERS = 4;
  private static final int STREAK = 50;

  private final CqlSession session;
  private final Map<String, String> options;
  private final String keyspace;
  private final Main.Listener listener;

  Disturbed(CqlSession session, Map<String, String> options, Main.Listener listener) {
    this.session = session;
    this.options = options;
    this.keyspace = options.get("keyspace");
    this.listener = listener;
  }

  void addTo(Map<String, Main.Check> checks) {
    checks.put("events", r -> {
      if (has("seen", "id")) {
        throw new AssertionError("the table is there already");
      }
      Main.await("events");
      poll("the new table is known", () -> has("seen", "id"));
    });
    checks.put("schema-under-load", r -> {
      load(r);
      poll("the new column is known", () -> has("load", "z_added"));
    });
    checks.put("node-restart", this::load);
    checks.put("first-node-restart", this::load);
    checks.put("drained", this::load);
    checks.put("member-lost", this::load);
    checks.put("member-back", this::load);
    checks.put("taken-over", this::takenOver);
    checks.put("node-added", r -> {
      int before = session.getMetadata().getNodes().size();
      load(r);
      poll("the new node is known", () -> session.getMetadata().getNodes().size() == before + 1);
    });
  }

  private boolean has(String table, String column) {
    return session.getMetadata().getKeyspace(keyspace).flatMap(k -> k.getTable(table)).flatMap(t -> t.getColumn(column)).isPresent();
  }

  private static void poll(String what, BooleanSupplier done) throws Exception {
    for (long end = System.nanoTime() + Main.PATIENCE; !done.getAsBoolean(); Thread.sleep(100)) {
      if (System.nanoTime() > end) {
        throw new AssertionError("waited in vain until " + what);
      }
    }
  }

  /** What an error says, with all that it stands on. */
  static String causes(Throwable e) {
    StringBuilder text = new StringBuilder();
    for (Throwable t = e; t != null; t = t.getCause()) {
      text.append(t).append("; ");
    }
    if (e instanceof AllNodesFailedException) {
      ((AllNodesFailedException) e).getAllErrors().values().forEach(list -> list.forEach(t -> text.append(causes(t))));
    }
    return text.toString();
  }

  /** The load of a session that lasts, while sessions come and go. */
  private void takenOver(Map<String, Object> r) throws Exception {
    AtomicBoolean stop = new AtomicBoolean();
    AtomicInteger good = new AtomicInteger();
    Map<String, Integer> failed = new ConcurrentHashMap<>();
    List<String> refused = Collections.synchronizedList(new ArrayList<>());
    Thread visitor = new Thread(() -> {
      for (long end = 0; ; ) {
        boolean last = stop.get();
        if (last && end == 0) {
          end = System.nanoTime() + Main.PATIENCE;
        }
        try (CqlSession visit = Main.connect(options, options.get("password"), null)) {
          visit.execute("SELECT release_version FROM system.local");
          good.incrementAndGet();
          if (last) {
            return;
          }
        } catch (Exception e) {
          String text = causes(e);
          failed.merge(text.substring(0, Math.min(300, text.length())), 1, Integer::sum);
          if (text.contains("refused") || last && System.nanoTime() > end) {
            refused.add("after " + good + " visits: " + text);
            return;
          }
        }
      }
    });
    visitor.start();
    try {
      load(r);
    } finally {
      stop.set(true);
      visitor.join();
    }
    r.put("detail", good + " visits; " + r.get("detail") + (failed.isEmpty() ? "" : "; visits failed: " + failed));
    if (!refused.isEmpty()) {
      throw new AssertionError(refused);
    }
  }

  /** What one run of the load remembers. */
  private final class Load {
    final String name;
    final PreparedStatement insert = session.prepare("INSERT INTO load (id, v) VALUES (?, ?)");
    final PreparedStatement select = session.prepare("SELECT * FROM load WHERE id = ?");
    final Map<String, Integer> failures = new ConcurrentHashMap<>();
    final AtomicLong failed = new AtomicLong();
    final int[] written = new int[WORKERS];
    volatile boolean stop;

    Load(String name) {
      this.name = name;
    }

    String key(int w, int i) {
      return name + "-" + w + "-" + i;
    }

    void attempt(Callable<?> op) throws Exception {
      for (long end = System.nanoTime() + Main.PATIENCE; ; ) {
        try {
          op.call();
          return;
        } catch (Exception e) { // a wrong answer is an Error, and not tried again
          failed.incrementAndGet();
          String text = String.valueOf(e);
          failures.merge(text.substring(0, Math.min(120, text.length())), 1, Integer::sum);
          if (System.nanoTime() > end) {
            throw e;
          }
          Thread.sleep(50);
        }
      }
    }

    void check(int w, int i) throws Exception {
      attempt(() -> {
        Row row = session.execute(select.bind(key(w, i)).setIdempotent(true)).one();
        long want = (long) i * 7 + w;
        if (row == null || row.getLong("v") != want) {
          throw new AssertionError("wrong answer: row " + key(w, i) + " says " + (row == null ? "nothing" : row.getLong("v")) + ", written was " + want);
        }
        return null;
      });
    }

    void work(int w) throws Exception {
      int good = 0;
      for (int n = 0; good < STREAK; n++) {
        int i = n;
        if (stop) {
          good++;
        }
        long before = failed.get();
        attempt(() -> session.execute(insert.bind(key(w, i), (long) i * 7 + w).setIdempotent(true)));
        written[w] = i + 1;
        check(w, ThreadLocalRandom.current().nextInt(i + 1));
        if (failed.get() != before) {
          good = 0;
        }
        Thread.sleep(100);
      }
    }
  }

  private void load(Map<String, Object> r) throws Exception {
    session.execute("CREATE TABLE IF NOT EXISTS load (id text PRIMARY KEY, v bigint)");
    listener.down.clear();
    listener.up.clear();
    Load load = new Load(r.get("check") + "-" + System.nanoTime());
    Map<Integer, Throwable> errors = new ConcurrentHashMap<>();
    List<Thread> threads = new ArrayList<>();
    for (int w = 0; w < WORKERS; w++) {
      int worker = w;
      Thread t = new Thread(() -> {
        try {
          load.work(worker);
        } catch (Throwable e) {
          errors.put(worker, e);
        }
      });
      t.start();
      threads.add(t);
    }
    Thread.sleep(500);
    Main.await((String) r.get("check"));
    load.stop = true;
    for (Thread t : threads) {
      t.join();
    }
    if (!errors.isEmpty()) {
      throw new AssertionError(errors + "; errors on the way: " + new TreeMap<>(load.failures));
    }
    int total = 0;
    for (int w = 0; w < WORKERS; w++) {
      total += load.written[w];
      for (int i = 0; i < load.written[w]; i++) {
        load.check(w, i);
      }
    }
    r.put("detail", total + " rows, " + load.failed + " operations tried again " + (load.failures.isEmpty() ? "" : new TreeMap<>(load.failures)));
    r.put("down", new ArrayList<>(listener.down));
    r.put("up", new ArrayList<>(listener.up));
  }
}
