package io.regatta.collective.store;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
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
    for (String key : List.of("../x", "a/../../x", "/etc/x", "a/", "a//b", ".", " ", "x_tmp", ".lock", ".lock/x",
        "a\\b", "a\0b", "a/./b")) {
      assertThatThrownBy(() -> get(store.set(key, new byte[0]))).as(key).isInstanceOf(InvalidInput.class);
    }
    assertThat(directory.resolve("x")).doesNotExist();
    get(store.close());
  }

  /** A process that may write to the directory can put links, pipes and giant files there. */
  @Test
  void aLinkThatLeadsOutOfTheDirectoryIsNeitherReadNorWrittenThrough() throws IOException {
    Path root = Files.createDirectories(directory.resolve("WORKER/job")).getParent();
    Path outside = Files.createDirectory(directory.resolve("outside"));
    Files.writeString(outside.resolve("secret"), "secret");
    Files.createSymbolicLink(root.resolve("job/file"), outside.resolve("secret"));
    Files.createSymbolicLink(root.resolve("way"), outside);
    Store store = client();
    for (String key : List.of("job/file", "way/secret")) {
      assertThatThrownBy(() -> get(store.get(key))).as(key).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("is a symbolic link");
      assertThatThrownBy(() -> get(store.await(key, Duration.ofMinutes(1)))).as("await %s", key)
          .isInstanceOf(InvalidInput.class);
    }
    for (String key : List.of("way/secret", "way/new", "way/deep/new")) {
      assertThatThrownBy(() -> get(store.set(key, new byte[1]))).as(key).isInstanceOf(InvalidInput.class)
          .hasMessageContaining(root.resolve("way") + " is a symbolic link");
      assertThatThrownBy(() -> get(store.delete(key))).as(key).isInstanceOf(InvalidInput.class);
    }
    get(store.set("job/file", new byte[] {1}));
    assertThat(root.resolve("job/file")).as("in the link's place").isRegularFile().hasBinaryContent(new byte[] {1});
    assertThat(outside.resolve("secret")).hasContent("secret");
    try (Stream<Path> there = Files.list(outside)) {
      assertThat(there).containsExactly(outside.resolve("secret"));
    }
    get(store.close());
  }

  @Test
  void aLinkInThePlaceOfTheLockIsNotFollowed() throws IOException {
    Path root = Files.createDirectories(directory.resolve("WORKER"));
    Files.createSymbolicLink(root.resolve(".lock"), directory.resolve("made"));
    Store store = client();
    assertThatThrownBy(() -> get(store.set("a", new byte[1]))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining(root.resolve(".lock") + " is a symbolic link");
    assertThat(directory.resolve("made")).doesNotExist();
    get(store.close());
  }

  @Test
  void aFileThatIsLargerThanAnyValueIsNotRead() throws IOException {
    Path giant = Files.createDirectories(directory.resolve("WORKER")).resolve("giant");
    try (RandomAccessFile file = new RandomAccessFile(giant.toFile(), "rw")) {
      file.setLength(Store.VALUE_BYTES + 1);
    }
    Store store = client();
    assertThatThrownBy(() -> get(store.get("giant"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining(giant.toString()).hasMessageContaining("1048576");
    assertThatThrownBy(() -> get(store.compareAndSet("giant", Optional.empty(), new byte[1])))
        .isInstanceOf(InvalidInput.class);
    get(store.set("giant", new byte[Store.VALUE_BYTES]));
    assertThat(get(store.get("giant"))).hasValueSatisfying(v -> assertThat(v).hasSize(Store.VALUE_BYTES));
    get(store.close());
  }

  @Test
  @Timeout(60)
  void aPipeIsNotWaitedFor() throws IOException, InterruptedException {
    Path root = Files.createDirectories(directory.resolve("WORKER"));
    assertThat(new ProcessBuilder("mkfifo", root.resolve("pipe").toString()).start().waitFor()).isZero();
    Store store = client();
    assertThat(get(store.get("pipe"))).isEmpty();
    assertThat(get(store.delete("pipe"))).isFalse();
    get(store.set("pipe", new byte[] {1}));
    assertThat(root.resolve("pipe")).isRegularFile();
    get(store.close());
  }

  @Test
  void aValueIsForItsOwnerAloneUnlessTheDirectoryIsTheGroups() throws IOException {
    for (String mode : List.of("rwxr-xr-x", "rwxrwxr-x")) {
      Path root = Files.createDirectory(directory.resolve(mode));
      Files.setPosixFilePermissions(root, PosixFilePermissions.fromString(mode));
      Store store = new FileStore(vertx, root);
      get(store.set("a", new byte[1]));
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(root.resolve("a")))).as(mode)
          .isEqualTo(mode.contains("rwxrwx") ? "rw-rw----" : "rw-------");
      get(store.close());
    }
  }
}
