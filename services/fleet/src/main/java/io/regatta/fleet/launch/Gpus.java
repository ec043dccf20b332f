package io.regatta.fleet.launch;

import java.io.File;
import java.util.Arrays;
import java.util.List;

/** NVIDIA's GPUs of this machine, as the system lists them: asking an engine would mean to start it. Stateless. */
public final class Gpus {

  private Gpus() {}

  /** Returns their device names, e.g. {@code nvidia0}. */
  public static List<String> all() {
    String[] devices = new File("/dev").list((directory, name) -> name.matches("nvidia\\d+"));
    return devices == null ? List.of() : Arrays.stream(devices).sorted().toList();
  }
}
