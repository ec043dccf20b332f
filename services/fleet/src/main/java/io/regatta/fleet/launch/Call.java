package io.regatta.fleet.launch;

import java.util.List;
import java.util.Map;

/**
 * The call of a process of the job.
 *
 * @param command of this machine
 * @param environment variables beside those that it inherits
 * @param endsWithInput whether it ends, in its own time, when its standard input does; otherwise it is asked by a
 *     signal
 */
public record Call(List<String> command, Map<String, String> environment, boolean endsWithInput) {

  public Call {
    command = List.copyOf(command);
    environment = Map.copyOf(environment);
  }
}
