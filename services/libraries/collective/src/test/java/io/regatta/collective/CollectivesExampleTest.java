package io.regatta.collective;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.testing.BlockedLoopGuard;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(BlockedLoopGuard.class)
class CollectivesExampleTest {

  @Test
  void itGivesTheMean(@TempDir Path meeting) {
    Vertx vertx = Vertx.vertx();
    Future<float[]> one = CollectivesExample.mean(vertx, meeting, 2, "127.0.0.1", CollectiveOptions.defaults(),
        new float[] {1, 2, 3});
    Future<float[]> other = CollectivesExample.mean(vertx, meeting, 2, "127.0.0.1", CollectiveOptions.defaults(),
        new float[] {3, 2, 4});
    assertThat(get(one)).containsExactly(2, 2, 3.5f);
    assertThat(get(other)).containsExactly(2, 2, 3.5f);
    get(vertx.close());
  }

  @Test
  void theDocumentationQuotesIt() throws Exception {
    Path root = Path.of(System.getProperty("regatta.root", "../../.."));
    String source = Files.readString(root.resolve(
        "services/libraries/collective/src/test/java/io/regatta/collective/CollectivesExample.java"));
    String begins = "// example begins\n";
    String example = source.substring(source.indexOf(begins) + begins.length(), source.indexOf("// example ends")).stripIndent();
    assertThat(Files.readString(root.resolve("docs/algorithms.md"))).contains(example);
  }
}
