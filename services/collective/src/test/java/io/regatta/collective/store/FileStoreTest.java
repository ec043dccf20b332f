package io.regatta.collective.store;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileStoreTest extends StoreContract {
  @TempDir
  Path directory;

  @Override
  Store client() {
    return new FileStore(vertx, directory.resolve("WORKER"), Duration.ofMillis(20));
  }

  /** PADDLE_GLOO_FS_PATH/WORKER, SYS_JOB_ID/RANK. */
  @Test
  void filesLieWherePaddlePaddlesDo() throws IOException {
    Store store = client();
    get(store.set("my job/0", new byte[] {1, 2}));
    assertThat(directory.resolve("WORKER/myjob/0")).hasBinaryContent(new byte[] {1, 2});
    Files.write(directory.resolve("WORKER/myjob/1"), new byte[] {3});
    get(store.await(List.of("my job/0", "my job/1"), Duration.ofSeconds(10)));
    assertThat(get(store.get("myjob/1"))).hasValueSatisfying(v -> assertThat(v).containsExactly(3));
    try (Stream<Path> left = Files.list(directory.resolve("WORKER/myjob"))) {
      assertThat(left.map(p -> p.getFileName().toString())).containsExactlyInAnyOrder("0", "1");
    }
    get(store.close());
  }

  /** A process that adds 1 to counter n this number of times. */
  public static final class Adder {
    public static void main(String[] args) {
      Vertx vertx = Vertx.vertx();
      Store store = new FileStore(vertx, Path.of(args[0]));
      for (int i = 0; i < Integer.parseInt(args[1]); i++) {
        get(store.add("n", 1));
      }
      get(vertx.close());
    }
  }

  @Test
  void processesTakeTurns() throws IOException, InterruptedException {
    Path shared = directory.resolve("shared");
    Process adder = new ProcessBuilder(System.getProperty("java.home") + "/bin/java", "-cp",
        System.getProperty("java.class.path"), Adder.class.getName(), shared.toString(), "40").inheritIO().start();
    Store store = new FileStore(vertx, shared);
    get(store.await("n", Duration.ofSeconds(60)));
    for (int i = 0; i < 40; i++) {
      get(store.add("n", 1));
    }
    assertThat(adder.waitFor()).isZero();
    assertThat(get(store.add("n", 0))).isEqualTo(80);
    get(store.close());
  }

  @Test
  void noKeyLeadsOutOfTheDirectory() {
    Store store = client();
    for (String key : List.of("../x", "a/../../x", "/etc/x", "a/", "a//b", ".", " ", "x_tmp", ".lock")) {
      assertThatThrownBy(() -> get(store.set(key, new byte[0]))).as(key).isInstanceOf(InvalidInput.class);
    }
    assertThat(directory.resolve("x")).doesNotExist();
    get(store.close());
  }
}
