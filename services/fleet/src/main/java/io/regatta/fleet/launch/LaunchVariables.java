package io.regatta.fleet.launch;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.launch.plan.LaunchOptions;
import io.regatta.fleet.role.LaunchedRole;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The environment variables of PaddlePaddle's launch, which stand for options of {@code regatta launch} that are not
 * given. A process that a launcher has started sees none: there they are its part in a job, and not options of a launch
 * within. Confined to its command's thread.
 */
public final class LaunchVariables {

  private static final String POD_IP = "POD_IP";
  private static final String OLD_PORT = "FLAGS_START_PORT";
  private static final String GLOO = "PADDLE_WITH_GLOO";
  /** Variables by option; of several variables the first that is set counts. */
  private static final Map<String, List<String>> NAMES = new LinkedHashMap<>();

  static {
    LaunchedRole.parts().stream().flatMap(role -> Stream.of(role.number(), role.places()))
        .forEach(option -> NAMES.put(option.name(), option.variables()));
    NAMES.put("--ips", List.of("PADDLE_IPS"));
    NAMES.put("--nproc_per_node", List.of("PADDLE_NPROC_PER_NODE"));
    NAMES.put("--master", List.of("PADDLE_MASTER"));
    NAMES.put("--nnodes", List.of("PADDLE_NNODES"));
    NAMES.put("--rank", List.of("PADDLE_RANK"));
    NAMES.put("--max_restart", List.of("PADDLE_MAX_RESTART"));
    NAMES.put("--gpus", List.of("PADDLE_DEVICES"));
    NAMES.put("--host", List.of(POD_IP));
    NAMES.put("--start_port", List.of("PADDLE_START_PORT", OLD_PORT));
    NAMES.put("--log_dir", List.of("PADDLE_LOG_DIR"));
    NAMES.put("--job_id", List.of("PADDLE_JOB_ID"));
  }

  private final Map<String, String> environment;
  /** Variables that count, by the options for which they stand. */
  private final Map<String, String> taken = new LinkedHashMap<>();
  private final List<String> unused = new ArrayList<>();

  /**
   * Reads an environment.
   *
   * @param environment variables by name
   * @param old whether the command is {@code launch_ps}, of whose options the port alone has a variable
   */
  public LaunchVariables(Map<String, String> environment, boolean old) {
    this.environment = new HashMap<>(environment.containsKey(LauncherLink.VARIABLE) ? Map.of() : environment);
    if (old) {
      this.environment.keySet().retainAll(Set.of(OLD_PORT, GLOO));
    }
  }

  /** Returns the gloo setting for programs, which stands for no option. */
  public String gloo() {
    String text = environment.getOrDefault(GLOO, "").strip();
    return text.isEmpty() ? LaunchOptions.NO_GLOO : text;
  }

  /** Returns the given value, or else that of a variable; null or blank: neither. */
  public String text(String option, String given) {
    String variable = given == null || given.isBlank() ? variable(option) : null;
    if (variable == null) {
      return given;
    }
    taken.put(option, variable);
    return environment.get(variable).strip();
  }

  /** Returns the given whole number, or else that of a variable; null: neither. */
  public Integer number(String option, Integer given) {
    String text = given == null ? text(option, null) : null;
    try {
      return text == null ? given : Integer.valueOf(text);
    } catch (NumberFormatException e) {
      throw new InvalidInput(taken.get(option) + " must be a whole number, but is \"" + text + "\", please check your environment.");
    }
  }

  /** Null: none is set. */
  private String variable(String option) {
    return NAMES.get(option).stream().filter(name -> !environment.getOrDefault(name, "").isBlank()).findFirst().orElse(null);
  }

  /** Notes for each of these options' variables that is set that it has no effect. */
  public void withoutEffect(String why, String... options) {
    Stream.of(options).map(this::variable).filter(Objects::nonNull).forEach(name -> unused.add(name + " has no effect " + why));
  }

  /** Returns true if the host of {@code host} or {@code host:port} is the one that this machine's variable names. */
  public boolean isOwnPlace(String place) {
    String own = environment.getOrDefault(POD_IP, "").strip();
    return !own.isEmpty() && (place.equals(own) || place.startsWith(own + ":"));
  }

  /** Returns the values of the variables that count, by the options for which they stand; a copy. */
  public Map<String, String> options() {
    Map<String, String> options = new LinkedHashMap<>();
    taken.forEach((option, variable) -> options.put(option, environment.get(variable).strip()));
    return options;
  }

  /** Returns lines about the variables that count, and about those that do not although they are set. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>(unused);
    if (!taken.isEmpty()) {
      lines.add(0, "options from the environment: " + options().entrySet().stream().map(each -> each.getKey() + " "
          + each.getValue() + " (" + taken.get(each.getKey()) + ")").collect(Collectors.joining(", ")));
    }
    return lines;
  }

  /** Returns an error whose message names the variables in place of the options for which they stand. */
  public InvalidInput named(InvalidInput e) {
    String words = e.getMessage();
    for (Map.Entry<String, String> each : taken.entrySet()) {
      words = words.replaceAll("(?<![\\w-])" + Pattern.quote(each.getKey()) + "(?![\\w-])", Matcher.quoteReplacement(each.getValue()));
    }
    return words.equals(e.getMessage()) ? e : new InvalidInput(words, e);
  }
}
