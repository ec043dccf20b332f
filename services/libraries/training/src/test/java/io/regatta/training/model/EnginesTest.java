package io.regatta.training.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.Device;
import ai.djl.engine.EngineException;
import com.sun.jna.Native;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.progress.Progress;
import io.regatta.training.rank.Toy;
import io.regatta.training.run.LocalRun;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

class EnginesTest {

  @Test
  @DisabledIfSystemProperty(named = "ai.djl.default_engine", matches = "PyTorch")
  void autoIsMxnetWhereItsNativesExistAndPyTorchElsewhere() {
    String given = System.clearProperty("ai.djl.default_engine");
    try {
      assertThat(Engines.choose("auto", "Linux", "amd64")).isEqualTo("MXNet");
      assertThat(Engines.choose("", "Linux", "aarch64")).isEqualTo("PyTorch");
      assertThat(Engines.choose(null, "Mac OS X", "aarch64")).isEqualTo("PyTorch");
      assertThat(Engines.choose("pytorch", "Linux", "amd64")).isEqualTo("PyTorch");
      assertThatThrownBy(() -> Engines.choose("MXNet", "Linux", "aarch64")).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("linux x86-64 only").hasMessageContaining("PyTorch");
    } finally {
      if (given != null) {
        System.setProperty("ai.djl.default_engine", given);
      }
    }
  }

  @Test
  void aMissingSharedLibraryIsNamedWithItsPackage() {
    Throwable failure = new EngineException("Failed to load MXNet native library", new UnsatisfiedLinkError(
        "Unable to load library '/home/user/.djl.ai/libmxnet.so':\n"
            + "libgomp.so.1: cannot open shared object file: No such file or directory"));
    assertThat(Engines.reason(failure)).contains("libgomp is missing").contains("apt-get install libgomp1")
        .doesNotContain("\n");
  }

  @Test
  void anotherEngineInTheSameProcessIsRefused() {
    Engines.start("auto", 1);
    assertThatThrownBy(() -> Engines.start("OnnxRuntime", 1)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("already");
  }

  /** MXNet would otherwise run up to 15 operations of backward as one, and yield no gradient before all. */
  @Test
  void everyGradientComesByItselfUnlessTheUserHasSetThatOtherwise() {
    Engines.start("auto", 1);
    String name = "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD";
    assertThat(Native.load("c", Engines.LibC.class).getenv(name)).isEqualTo(System.getenv().getOrDefault(name, "1"));
  }

  @Test
  void aDeviceThatIsNotThereIsRefusedAtTheStart() {
    assertThatThrownBy(() -> LocalRun.run(Toy.job(new JsonObject().put("device", "gpu:99")),
        worker -> { }, Progress.none()))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("device: gpu:99").hasMessageContaining("GPUs");
    assertThatThrownBy(() -> Toy.job(new JsonObject().put("device", "tpu")))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("device is 'tpu'");
    assertThat(Devices.of("cpu")).isEqualTo(Device.cpu());
    assertThat(Devices.of("auto")).isEqualTo(Engines.current().defaultDevice());
  }
}
