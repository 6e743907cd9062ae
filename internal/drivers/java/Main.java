import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.config.ProgrammaticDriverConfigLoaderBuilder;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.metadata.NodeStateListenerBase;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** The conformance checks with the Java driver, as an ordinary application; internal/drivers says what each check means. */
public final class Main {
  /** Nanoseconds that anything is waited for, retries included: far beyond what a busy machine needs. */
  static final long PATIENCE = 300_000_000_000L;

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final BufferedReader INPUT = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

  /** What a check says of itself. */
  interface Check {
    void run(Map<String, Object> result) throws Exception;
  }

  /** Hears which nodes the driver takes to be up or down. */
  static final class Listener extends NodeStateListenerBase {
    final List<String> down = Collections.synchronizedList(new ArrayList<>());
    final List<String> up = Collections.synchronizedList(new ArrayList<>());

    @Override
    public void onDown(Node node) {
      down.add(String.valueOf(node.getHostId()));
    }

    @Override
    public void onUp(Node node) {
      up.add(String.valueOf(node.getHostId()));
    }
  }

  static synchronized void say(Map<String, Object> line) throws Exception {
    System.out.println(JSON.writeValueAsString(line));
    System.out.flush();
  }

  /** Says that a check waits to be disturbed, and returns when the harness is done. */
  static void await(String check) throws Exception {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("ready", check);
    line.put("ok", true);
    say(line);
    INPUT.readLine();
  }

  static CqlSession connect(Map<String, String> o, String password, Listener listener) throws Exception {
    ProgrammaticDriverConfigLoaderBuilder config =
        DriverConfigLoader.programmaticBuilder()
            .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(60))
            .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, Duration.ofSeconds(60))
            .withDuration(DefaultDriverOption.CONNECTION_CONNECT_TIMEOUT, Duration.ofSeconds(60))
            .withDuration(DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, Duration.ofSeconds(60))
            .withDuration(DefaultDriverOption.METADATA_SCHEMA_REQUEST_TIMEOUT, Duration.ofSeconds(60))
            .withDuration(DefaultDriverOption.RECONNECTION_MAX_DELAY, Duration.ofSeconds(5))
            .withDuration(DefaultDriverOption.CONTROL_CONNECTION_AGREEMENT_TIMEOUT, Duration.ofNanos(PATIENCE))
            .withInt(DefaultDriverOption.REQUEST_TRACE_ATTEMPTS, 3000)
            .withDuration(DefaultDriverOption.REQUEST_TRACE_INTERVAL, Duration.ofMillis(100))
            .withString(DefaultDriverOption.REQUEST_CONSISTENCY, "QUORUM")
            .startProfile("speculative")
            .withString(DefaultDriverOption.SPECULATIVE_EXECUTION_POLICY_CLASS, "ConstantSpeculativeExecutionPolicy")
            .withInt(DefaultDriverOption.SPECULATIVE_EXECUTION_MAX, 3)
            .withDuration(DefaultDriverOption.SPECULATIVE_EXECUTION_DELAY, Duration.ofMillis(1))
            .endProfile();
    if (o.containsKey("protocol") && !o.get("protocol").equals("0")) {
      config = config.withString(DefaultDriverOption.PROTOCOL_VERSION, "V" + o.get("protocol"));
    }
    if (o.containsKey("compression")) {
      config = config.withString(DefaultDriverOption.PROTOCOL_COMPRESSION, o.get("compression"));
    }
    CqlSessionBuilder b = CqlSession.builder().withConfigLoader(config.build()).withLocalDatacenter("datacenter1");
    for (String point : o.get("points").split(",")) {
      int at = point.lastIndexOf(':');
      b.addContactPoint(new InetSocketAddress(point.substring(0, at), Integer.parseInt(point.substring(at + 1))));
    }
    if (listener != null) {
      b.withNodeStateListener(listener);
    }
    if (o.containsKey("username")) {
      b.withAuthCredentials(o.get("username"), password);
    }
    if (o.containsKey("ca")) {
      b.withSslContext(trusting(o.get("ca"), o.get("cert"), o.get("key")));
    }
    return b.withKeyspace(CqlIdentifier.fromInternal(o.get("keyspace"))).build();
  }

  private static SSLContext trusting(String file, String cert, String key) throws Exception {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    try (InputStream in = Files.newInputStream(Path.of(file))) {
      store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(in));
    }
    TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(cert == null ? null : showing(cert, key), trust.getTrustManagers(), null);
    return context;
  }

  /** The client's own certificate, and its key, which is of an elliptic curve. */
  private static KeyManager[] showing(String cert, String key) throws Exception {
    String text = Files.readString(Path.of(key)).replaceAll("-----[A-Z ]+-----", "").replaceAll("\\s", "");
    PrivateKey secret = KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(text)));
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    try (InputStream in = Files.newInputStream(Path.of(cert))) {
      store.setKeyEntry("own", secret, new char[0], new Certificate[] {CertificateFactory.getInstance("X.509").generateCertificate(in)});
    }
    KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(store, new char[0]);
    return managers.getKeyManagers();
  }

  public static void main(String[] args) throws Exception {
    Map<String, String> o = new HashMap<>();
    for (int i = 0; i + 1 < args.length; i += 2) {
      o.put(args[i].substring(2), args[i + 1]);
    }
    Listener listener = new Listener();
    try (CqlSession session = connect(o, o.get("password"), listener)) {
      Map<String, Check> checks = new HashMap<>();
      new Statements(session, o).addTo(checks);
      new Disturbed(session, o, listener).addTo(checks);
      checks.put("wrong-password", r -> wrongPassword(o, r));
      checks.put("no-certificate", r -> noCertificate(o, r));
      for (String name : o.get("checks").split(",")) {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("check", name);
        try {
          if (!checks.containsKey(name)) {
            throw new IllegalArgumentException("no such check");
          }
          checks.get(name).run(result);
          result.put("ok", true);
        } catch (Throwable e) {
          result.put("ok", false);
          String text = e + " " + result.getOrDefault("detail", "") + " at " + List.of(e.getStackTrace()).subList(0, Math.min(3, e.getStackTrace().length));
          result.put("detail", text.substring(0, Math.min(2000, text.length())));
        }
        say(result);
      }
    } catch (Exception e) {
      Map<String, Object> line = new LinkedHashMap<>();
      line.put("check", "connect");
      line.put("ok", false);
      line.put("detail", String.valueOf(e));
      say(line);
      System.exit(1);
    }
    System.exit(0);
  }

  private static void noCertificate(Map<String, String> o, Map<String, Object> result) throws Exception {
    Map<String, String> without = new HashMap<>(o);
    without.remove("cert");
    try (CqlSession other = connect(without, o.get("password"), null)) {
      throw new AssertionError("who has no certificate was let in");
    } catch (AllNodesFailedException e) {
      String text = Disturbed.causes(e);
      result.put("detail", text.substring(0, Math.min(200, text.length())));
      if (!text.contains("certificate")) {
        throw new AssertionError("the refusal does not say why: " + text);
      }
    }
  }

  private static void wrongPassword(Map<String, String> o, Map<String, Object> result) throws Exception {
    try (CqlSession other = connect(o, "wrong", null)) {
      throw new AssertionError("a wrong password was let in");
    } catch (AllNodesFailedException e) {
      String text = String.valueOf(e.getAllErrors());
      result.put("detail", text.substring(0, Math.min(120, text.length())));
      if (!text.contains("incorrect")) {
        throw new AssertionError("the refusal does not say why: " + text);
      }
    }
  }
}
