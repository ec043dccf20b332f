package io.regatta.fleet.role;

import java.util.List;
import java.util.Locale;

/**
 * The variables of heter workers beside their places: the device, and the stages of PaddlePaddle 2.2 and later.
 * Stateless.
 */
final class HeterVariables {

  private static final String DEVICE = "HETER_DEVICE_TYPE";
  private static final String STAGE = "STAGE_ID";
  private static final String STAGES = "STAGE_NUM";
  private static final String ROLE = "TRAINING_ROLE";
  /** The stages of a network: the trainers', and the heter workers'. */
  private static final int MOST_STAGES = 2;

  static final List<String> NAMES = List.of(DEVICE, STAGE, STAGES);

  private HeterVariables() {}

  /** See {@link AuxiliaryVariables#read}. */
  static void read(EnvironmentVariables variables, EnvironmentReadings found, boolean heterWorker) {
    stages(variables, found, heterWorker);
    if (variables.has(DEVICE)) {
      String device = variables.text(DEVICE).toLowerCase(Locale.ROOT);
      found.key(DEVICE, device, "heter.device", switch (device) {
        case "cpu" -> "cpu";
        case "gpu" -> "gpu:0";
        default -> variables.wrong(DEVICE, DEVICE + " must be cpu or gpu, but is \"" + variables.text(DEVICE)
            + "\", please check your environment.", "cpu");
      });
    }
  }

  /** Refuses more stages than a network with one cut has. */
  private static void stages(EnvironmentVariables variables, EnvironmentReadings found, boolean heterWorker) {
    if (variables.has(STAGES)) {
      int stages = variables.number(STAGES, 1, MOST_STAGES);
      if (stages > MOST_STAGES) {
        variables.wrong(STAGES, STAGES + " is " + stages + ", but a network has one cut, and so " + MOST_STAGES
            + " stages: the trainers' and the heter workers', please check your environment.", stages);
      }
      found.reading(STAGES, variables.text(STAGES), "agrees with " + ROLE + ": one cut");
    }
    if (variables.has(STAGE)) {
      int expected = heterWorker ? MOST_STAGES : 1;
      int stage = variables.number(STAGE, 0, expected);
      if (variables.areRight(STAGE) && stage != expected) {
        variables.wrong(STAGE, STAGE + " is " + stage + ", but of a network with one cut " + (heterWorker
            ? "heter workers have stage 2"
            : "trainers have stage 1") + ", please check your environment.", stage);
      }
      found.reading(STAGE, variables.text(STAGE), "agrees with " + ROLE);
    }
  }
}
