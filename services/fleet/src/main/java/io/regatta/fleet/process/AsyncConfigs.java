package io.regatta.fleet.process;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.vertx.core.json.JsonObject;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/** PaddlePaddle's {@code a_sync_configs} in a job file, in the keys of a job. Stateless. */
final class AsyncConfigs {

  private static final String SECTION = "a_sync_configs";
  private static final String STEPS = "k_steps";
  /** The names of the device of heter workers. */
  private static final Set<String> DEVICES = new TreeSet<>(Set.of("heter_worker_device", "heter_worker_device_guard"));

  private AsyncConfigs() {}

  /**
   * Replaces the section by the keys of a job that mean the same.
   *
   * @throws InvalidInput for a key that means nothing here, a value that it cannot have, or one that the job
   * contradicts
   */
  static void translate(JsonObject job) {
    if (!(job.getValue(SECTION) instanceof JsonObject configs)) {
      return;
    }
    job.remove(SECTION);
    for (String name : configs.fieldNames()) {
      Object value = configs.getValue(name);
      if (name.equals(STEPS)) {
        put(job, STEPS, name, value);
      } else if (DEVICES.contains(name)) {
        if (!job.containsKey("heter")) {
          job.put("heter", new JsonObject());
        }
        if (job.getValue("heter") instanceof JsonObject heter) {
          put(heter, "device", name, device(name, String.valueOf(value)));
        }
      } else {
        throw new InvalidInput(SECTION + "." + name + " is no key here; of that section, " + STEPS + ", "
            + String.join(" and ", DEVICES)
            + " are understood");
      }
    }
  }

  private static String device(String name, String value) {
    return switch (value.toLowerCase(Locale.ROOT)) {
      case "cpu" -> "cpu";
      case "gpu" -> "gpu:0";
      default -> throw new InvalidInput(SECTION + "." + name + " must be cpu or gpu, but is \"" + value + "\"");
    };
  }

  private static void put(JsonObject to, String key, String name, Object value) {
    Object given = to.getValue(key);
    if (given != null && !given.equals(value)) {
      throw new InvalidInput(SECTION + "." + name + " says " + key + ": " + value + ", but the job says " + key + ": "
          + given
          + "; leave one of them out");
    }
    to.put(key, value);
  }
}
