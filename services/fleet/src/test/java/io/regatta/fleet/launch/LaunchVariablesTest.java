package io.regatta.fleet.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Variables that stand for options of {@code regatta launch}. */
class LaunchVariablesTest {

  @Test
  void options_go_before_variables_and_a_line_says_which_count() {
    LaunchVariables variables = new LaunchVariables(Map.of("PADDLE_NPROC_PER_NODE", " 2 ", "PADDLE_LOG_DIR", "here", "PADDLE_DEVICES", ""),
        false);
    assertThat(variables.number("--nproc_per_node", null)).isEqualTo(2);
    assertThat(variables.text("--log_dir", "there")).isEqualTo("there");
    assertThat(variables.text("--gpus", null)).isNull();
    assertThat(variables.lines()).containsExactly("options from the environment: --nproc_per_node 2 (PADDLE_NPROC_PER_NODE)");
    assertThat(variables.options()).isEqualTo(Map.of("--nproc_per_node", "2"));
  }

  @Test
  void of_two_for_one_option_the_newer_counts() {
    assertThat(new LaunchVariables(Map.of("FLAGS_START_PORT", "6000", "PADDLE_START_PORT", "7000"), false).number("--start_port", null))
        .isEqualTo(7000);
    assertThat(new LaunchVariables(Map.of("FLAGS_START_PORT", "6000", "PADDLE_START_PORT", "7000"), true).number("--start_port", null))
        .as("launch_ps").isEqualTo(6000);
  }

  @Test
  void what_a_launcher_has_started_has_a_part_and_no_options() {
    LaunchVariables variables = new LaunchVariables(Map.of("REGATTA_LAUNCHER", "1", "PADDLE_MASTER", "10.0.0.1:6379", "PADDLE_NNODES", "2"),
        false);
    assertThat(variables.text("--master", null)).isNull();
    variables.withoutEffect("here", "--nnodes");
    assertThat(variables.lines()).isEmpty();
  }

  @Test
  void programs_are_told_of_gloo_what_the_user_says_and_nothing_of_an_outer_launch() {
    assertThat(new LaunchVariables(Map.of(), false).gloo()).isEqualTo("0");
    assertThat(new LaunchVariables(Map.of("PADDLE_WITH_GLOO", " 1 "), false).gloo()).isEqualTo("1");
    assertThat(new LaunchVariables(Map.of("PADDLE_WITH_GLOO", "1"), true).gloo()).as("launch_ps").isEqualTo("1");
    assertThat(new LaunchVariables(Map.of("PADDLE_WITH_GLOO", "1", "REGATTA_LAUNCHER", "1"), false).gloo()).isEqualTo("0");
  }

  @Test
  void messages_name_the_variable() {
    LaunchVariables variables = new LaunchVariables(Map.of("PADDLE_MASTER", "a:1", "PADDLE_RANK", "first", "POD_IP", "10.0.0.2"), false);
    variables.text("--master", null);
    assertThat(variables.named(new InvalidInput("received: --server_num and --master, not --masters"))).hasMessage(
        "received: --server_num and PADDLE_MASTER, not --masters");
    assertThatThrownBy(() -> variables.number("--rank", null)).isInstanceOf(InvalidInput.class).hasMessage(
        "PADDLE_RANK must be a whole number, but is \"first\", please check your environment.");
  }

  @Test
  void what_lacks_its_other_half_is_said() {
    LaunchVariables variables = new LaunchVariables(Map.of("PADDLE_NNODES", "2", "POD_IP", "10.0.0.2"), false);
    variables.withoutEffect("without --master", "--nnodes", "--rank");
    assertThat(variables.lines()).containsExactly("PADDLE_NNODES has no effect without --master");
    assertThat(variables.isOwnPlace("10.0.0.2:6170")).isTrue();
    assertThat(variables.isOwnPlace("10.0.0.2")).isTrue();
    assertThat(variables.isOwnPlace("10.0.0.20:6170")).isFalse();
  }
}
