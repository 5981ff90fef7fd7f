import java.net.CookieHandler;
import java.net.CookieManager;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;

/**
 * Follows redirects and keeps cookies with java.net.http, or with HttpURLConnection; reads lines
 * "header|redirect|cookie|jar TAB value", of which "jar" begins a new jar, and prints its version.
 */
public class Redirects {
    private static List<String> order;
    private static HttpClient plain;

    public static void main(String[] arguments) throws Exception {
        order = new String(System.in.readAllBytes()).lines().toList();
        boolean isOld = arguments.length > 0 && arguments[0].equals("HttpURLConnection");
        plain = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.ALWAYS).build();
        HttpClient jar = plain;
        for (String line : order) {
            String[] parts = line.split("\t", 2);
            if (parts[0].equals("header")) continue;
            if (parts[0].equals("jar")) {
                CookieManager manager = new CookieManager();
                CookieHandler.setDefault(manager);
                jar = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.ALWAYS).cookieHandler(manager).build();
                continue;
            }
            if (parts[0].equals("redirect")) CookieHandler.setDefault(null);
            try {
                if (isOld) old(parts[1]);
                else modern(parts[0].equals("cookie") ? jar : plain, parts[1]);
            } catch (Exception error) {
                System.err.println(parts[1] + " " + error);
            }
        }
        System.out.println((isOld ? "HttpURLConnection" : "java.net.http") + " of Java " + System.getProperty("java.version"));
    }

    private static void modern(HttpClient client, String url) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url));
        for (String[] header : headers()) request.header(header[1], header[2]);
        client.send(request.build(), HttpResponse.BodyHandlers.discarding());
    }

    private static void old(String url) throws Exception {
        HttpURLConnection connection = (HttpURLConnection) new URL(url).openConnection();
        connection.setConnectTimeout(10_000);
        connection.setReadTimeout(10_000);
        for (String[] header : headers()) connection.setRequestProperty(header[1], header[2]);
        connection.getInputStream().readAllBytes();
    }

    private static List<String[]> headers() {
        return order.stream().filter(line -> line.startsWith("header\t")).map(line -> line.split("\t", 3)).toList();
    }
}
