package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
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
  void page_of_the_own_vertx_application_shows_lines_of_its_code() {
    String application = Checkout.text("docs/own-vertx-application/src/main/java/org/example/ClusteredApplication.java");
    Matcher block = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL)
        .matcher(Checkout.text("docs/own-vertx-application.md"));
    assertThat(block.find()).isTrue();
    assertThat(normalized(application)).contains(normalized(block.group(1)));
  }

  @Test
  void links_and_paths_exist() throws IOException {
    List<Path> pages = new ArrayList<>(List.of(Checkout.file("README.md"), Checkout.file("SECURITY.md"),
        Checkout.file("load-tests/README.md")));
    try (Stream<Path> docs = Files.walk(Checkout.file("docs"))) {
      docs.filter(file -> file.toString().endsWith(".md")).forEach(pages::add);
    }
    assertThat(pages).hasSizeGreaterThan(15);
    for (Path page : pages) {
      Matcher link = Pattern.compile("\\]\\((?!https?:)([^)#]+)").matcher(Files.readString(page));
      while (link.find()) {
        assertThat(page.getParent().resolve(link.group(1))).as("%s links to %s", page, link.group(1)).exists();
      }
    }
  }

  @Test
  void every_page_of_the_docs_is_linked_from_README() throws IOException {
    try (Stream<Path> docs = Files.list(Checkout.file("docs"))) {
      assertThat(docs.map(file -> "(docs/" + file.getFileName()).filter(name -> !name.contains("example-project")))
          .allSatisfy(page -> assertThat(Checkout.text("README.md")).contains(page));
    }
  }

  private static String normalized(String text) {
    return text.replaceAll("\\s+", " ").strip();
  }
}
