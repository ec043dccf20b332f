package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;

/**
 * A page of the documentation whose tables stand between markers and are made from code: {@code
 * -Dregatta.docs.update=true} writes them anew.
 *
 * @param path from the checkout's root
 */
public record GeneratedPage(String path) {

  private static final String END = "<!-- end -->";

  /** Requires that the part after this marker is as made, or makes it so. */
  public void holds(String marker, String made) throws IOException {
    String begin = "<!-- " + marker + " -->\n";
    String page = Checkout.text(path);
    assertThat(page).contains(begin);
    int from = page.indexOf(begin) + begin.length();
    int to = page.indexOf(END, from);
    if (Boolean.getBoolean("regatta.docs.update")) {
      Files.writeString(Checkout.file(path), page.substring(0, from) + made + page.substring(to));
      return;
    }
    assertThat(page.substring(from, to))
        .as("%s in %s; -Dregatta.docs.update=true writes it anew", marker, path).isEqualTo(made);
  }
}
