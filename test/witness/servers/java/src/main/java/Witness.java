import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.springframework.web.filter.HiddenHttpMethodFilter;

/** Answers every request with the method and path that Spring sees behind its HiddenHttpMethodFilter, on Tomcat. */
public class Witness {
  public static void main(String[] arguments) throws Exception {
    Tomcat tomcat = new Tomcat();
    tomcat.setBaseDir(arguments[1]);
    tomcat.setPort(Integer.parseInt(arguments[0]));
    tomcat.getConnector().setProperty("address", "127.0.0.1");
    var context = tomcat.addContext("", arguments[1]);
    context.setAllowCasualMultipartParsing(true);
    var filter = new FilterDef();
    filter.setFilterName("hidden");
    filter.setFilter(new HiddenHttpMethodFilter());
    context.addFilterDef(filter);
    var mapping = new FilterMap();
    mapping.setFilterName("hidden");
    mapping.addURLPattern("/*");
    context.addFilterMap(mapping);
    Tomcat.addServlet(context, "echo", new HttpServlet() {
      @Override
      protected void service(HttpServletRequest request, HttpServletResponse response)
          throws IOException {
        response.setContentType("application/json");
        response.getWriter().printf(
            "{\"method\":\"%s\",\"path\":\"%s\"}",
            request.getMethod(), request.getPathInfo().replaceAll("[\"\\\\]", "?"));
      }
    });
    context.addServletMappingDecoded("/*", "echo");
    tomcat.start();
    tomcat.getServer().await();
  }
}
