import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.apache.cassandra.cql3.CQLFragmentParser;
import org.apache.cassandra.cql3.CqlParser;

/**
 * Says what Cassandra's own parser makes of statements: one per line of standard input, a dot and base64; an empty line asks for the
 * answers so far. Per line of standard output
 * "+" if it parses, otherwise "-" and why, on one line. No server, no schema and no disk are needed.
 */
public final class Oracle {
    public static void main(String[] arguments) throws Exception {
        PrintStream answers = new PrintStream(System.out, false, "UTF-8");
        System.setOut(System.err); // what Cassandra logs is no answer
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.isEmpty()) {
                answers.flush();
                continue;
            }
            String text = new String(Base64.getDecoder().decode(line.substring(1)), StandardCharsets.UTF_8);
            answers.println(judge(text));
        }
        answers.flush();
    }

    private static String judge(String text) {
        try {
            return CQLFragmentParser.parseAnyUnhandled(CqlParser::query, text) == null ? "- nothing" : "+";
        } catch (Throwable refusal) {
            return "- " + refusal.getClass().getSimpleName() + " " + String.valueOf(refusal.getMessage()).replaceAll("\\s+", " ");
        }
    }
}
