package io.regatta.protocol.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.testing.SecretFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SecretFileTest {

  @TempDir
  Path dir;

  @ParameterizedTest
  @ValueSource(strings = {"rw-r--r--", "rw-r-----", "r--r-----", "rw--w----", "rw----r--", "rw-----w-", "r-------x"})
  void refuses_a_file_of_this_user_that_others_may_use(String mode) throws Exception {
    Path file = SecretFiles.write(dir.resolve("token"), "secret");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    assertThatThrownBy(() -> SecretFile.read("node.token_file", file)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("node.token_file " + file).hasMessageContaining(mode)
        .hasMessageContaining("chmod 600 " + file).hasMessageContaining("defaultMode: 0400")
        .hasMessageNotContaining("\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw-------", "r--------"})
  void reads_a_file_for_its_owner_alone(String mode) throws Exception {
    Path file = SecretFiles.write(dir.resolve("token"), "secret");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    assertThat(SecretFile.read("node.token_file", file)).asString().isEqualTo("secret");
  }

  /** In an image without a name for its user Java calls that {@code ?}, and the file's owner by a number. */
  @Test
  void refuses_a_file_of_this_user_in_an_image_without_its_name() throws Exception {
    Path file = SecretFiles.write(dir.resolve("token"), "secret");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--r-----"));
    String name = System.setProperty("user.name", "?");
    try {
      assertThatThrownBy(() -> SecretFile.read("node.token_file", file)).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("r--r-----");
    } finally {
      System.setProperty("user.name", name);
    }
  }

  /** A Secret of Kubernetes belongs to root, and is lent through the group of the pod. */
  @Test
  void takes_the_group_of_a_file_of_another_user_but_not_all_others() {
    assertThat(SecretFile.isTooOpen(PosixFilePermissions.fromString("r--r-----"), false)).isFalse();
    for (String mode : new String[] {"r--r--r--", "rw-rw----", "r--r-x---"}) {
      assertThat(SecretFile.isTooOpen(PosixFilePermissions.fromString(mode), false)).as(mode).isTrue();
    }
  }
}
