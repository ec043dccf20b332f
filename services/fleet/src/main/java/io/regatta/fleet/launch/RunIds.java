package io.regatta.fleet.launch;

import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/** Ids of the runs that launches start: one for each launch, which its processes get by a variable. Stateless. */
public final class RunIds {

  private static final String VARIABLE = "REGATTA_RUN_ID";

  private RunIds() {}

  /** Returns the id of a launch: the one that it was given itself, or a new one. */
  public static String ofLaunch(Map<String, String> environment) {
    String given = environment.getOrDefault(VARIABLE, "").strip();
    return given.isEmpty() ? UUID.randomUUID().toString() : given;
  }

  /** Returns the variables of a process with the id of its run. */
  public static Map<String, String> with(String runId, Map<String, String> variables) {
    Map<String, String> all = new HashMap<>(variables);
    all.putIfAbsent(VARIABLE, runId);
    return all;
  }
}
