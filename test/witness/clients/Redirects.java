import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Follows redirects and keeps cookies with java.net.http; reads lines "header|redirect|cookie TAB value", prints its version. */
public class Redirects {
    public static void main(String[] arguments) throws Exception {
        List<String> order = new String(System.in.readAllBytes()).lines().toList();
        HttpClient plain = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.ALWAYS).build();
        HttpClient jar = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.ALWAYS)
            .cookieHandler(new CookieManager()).build();
        for (String line : order) {
            String[] parts = line.split("\t", 2);
            if (parts[0].equals("header")) continue;
            try {
                HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(parts[1]));
                for (String other : order)
                    if (other.startsWith("header\t")) {
                        String[] header = other.split("\t", 3);
                        request.header(header[1], header[2]);
                    }
                (parts[0].equals("cookie") ? jar : plain).send(request.build(), HttpResponse.BodyHandlers.discarding());
            } catch (Exception error) {
                System.err.println(parts[1] + " " + error);
            }
        }
        System.out.println("java.net.http of Java " + System.getProperty("java.version"));
    }
}
