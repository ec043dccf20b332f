package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The commands of docs/your-own-table.md, in their order, on the table beside the page. Its service is left to {@link ServeTest}. */
class OwnTablePageTest {

  private static final String TABLE = "docs/your-own-table/shop.csv";

  @TempDir
  Path dir;

  /** Returns the commands of the page, with its files below a directory of this test. */
  private List<String[]> commands(String page) {
    List<String[]> commands = new ArrayList<>();
    Matcher block = Pattern.compile("```sh\n(.*?)```", Pattern.DOTALL).matcher(page);
    while (block.find()) {
      block.group(1).lines().filter(line -> line.startsWith("./regatta ")).map(line -> line.substring("./regatta ".length()).split(" "))
          .forEach(commands::add);
    }
    for (String[] words : commands) {
      for (int i = 1; i < words.length; i++) {
        words[i] = words[i].matches("docs/.*|output/.*|[a-z]+\\.(yaml|json|svg)") ? dir.resolve(words[i]).toString() : words[i];
      }
    }
    return commands;
  }

  @Test
  @Timeout(value = 3, unit = TimeUnit.MINUTES)
  void every_command_does_what_the_page_says() throws IOException {
    Files.createDirectories(dir.resolve(TABLE).getParent());
    Files.copy(Checkout.file(TABLE), dir.resolve(TABLE));
    String page = Checkout.text("docs/your-own-table.md");
    List<String> ran = new ArrayList<>();
    for (String[] words : commands(page)) {
      ran.add(words[0]);
      if (words[0].equals("serve")) {
        continue;
      }
      List<String> args = new ArrayList<>(List.of(words));
      int redirected = args.indexOf(">");
      args = redirected < 0 ? args : args.subList(0, redirected);
      if (words[0].equals("init")) {
        args.addAll(List.of("--to", dir.resolve("shop.yaml").toString()));
      }
      if (words[0].equals("simulate")) {
        args.addAll(List.of("--output", dir.resolve("output/shop").toString()));
      }
      CommandLineRun run = CommandLineRun.regatta(args.toArray(String[]::new));
      assertThat(run.status()).as(args + " " + run).isZero();
      if (words[0].equals("predict")) {
        assertThat(run.out().lines()).hasSize(3000).allMatch(line -> Double.parseDouble(line) > 0);
      }
    }
    assertThat(ran).containsExactly("init", "analyze", "simulate", "explain", "predict", "serve");
    String job = Files.readString(dir.resolve("shop.yaml"));
    Matcher shown = Pattern.compile("```yaml\n(.*?)```", Pattern.DOTALL).matcher(page);
    assertThat(shown.find()).isTrue();
    assertThat(job).contains(shown.group(1));
    assertThat(Files.readString(dir.resolve("docs/your-own-table/statistics-shop/features.json"))).contains("label_auc");
    assertThat(new JsonObject(Files.readString(dir.resolve("result.json"))).getDouble("auc")).as("the labels' own is 0.75").isGreaterThan(0.68);
    assertThat(Files.readString(dir.resolve("importance.svg"))).contains("spent");
  }
}
