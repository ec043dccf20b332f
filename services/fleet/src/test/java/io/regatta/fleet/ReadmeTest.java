package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** README says what is there: its program is the example project's, which a test builds and runs; its links lead on. */
class ReadmeTest {

  @Test
  void example_is_the_example_projects_program() {
    Matcher block = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL).matcher(Checkout.text("README.md"));
    assertThat(block.find()).isTrue();
    assertThat(normalized(Checkout.text("docs/example-project/src/main/java/org/example/HousePrices.java")))
        .contains(normalized(block.group(1)));
  }

  @Test
  void links_and_paths_exist() {
    for (String page : new String[] {"README.md", "docs/architecture.md", "docs/decisions/README.md",
        "docs/example-project/README.md"}) {
      Matcher link = Pattern.compile("\\]\\((?!https?:)([^)#]+)").matcher(Checkout.text(page));
      while (link.find()) {
        assertThat(Files.exists(Checkout.file(page).getParent().resolve(link.group(1))))
            .as("%s links to %s", page, link.group(1)).isTrue();
      }
    }
  }

  private static String normalized(String text) {
    return text.replaceAll("\\s+", " ").strip();
  }
}
