package io.regatta.fleet.command.table;

import io.regatta.data.feature.TableLook;
import java.nio.file.Path;
import java.util.Locale;

/** A job file that a look at a table proposes: it runs as it is, and asks in comments what a look cannot know. Immutable. */
record JobProposal(String job, TableLook look, ProposedLabel label, ProposedFeatures features, Path testFile) {

  private static final double PERCENT = 100;
  private static final int SMALL = 3000;
  /** Steps after which a network of a small table has seen enough. */
  private static final int STEPS = 1000;
  private static final int EPOCHS_MAX = 20;

  /** Returns the text of the file. */
  String text() {
    StringBuilder text = new StringBuilder();
    text.append("# Proposed by regatta init after a look at ").append(look.complete() ? "all " : "the first ").append(look.rows())
        .append(" rows of ").append(Yaml.line(look.file().getFileName().toString())).append(". Lines with a question mark need you.\n")
        .append("#   ./regatta analyze ").append(job).append(".yaml\n#   ./regatta simulate ").append(job).append(".yaml\n")
        .append("#   ./regatta serve --model output/").append(job).append('\n');
    int batch = look.rows() < 10_000 ? 64 : look.complete() && look.rows() < 50_000 ? 128 : 512;
    long epochs = !look.complete() ? 1 : Math.max(1, Math.min(EPOCHS_MAX, STEPS * batch / Math.max(1, look.rows())));
    text.append("job: ").append(Yaml.scalar(job)).append("\nepochs: ").append(epochs).append("\nbatch_size: ").append(batch).append('\n')
        .append("optimizer: {kind: adam, learning_rate: 0.001}\nsparse_optimizer: {kind: adagrad, learning_rate: 0.05}\n");
    data(text);
    label(text);
    text.append("features:\n").append(features.lines());
    boolean small = look.complete() && look.rows() < SMALL;
    text.append("# logistic_regression for few rows; fm, deepfm, wide_and_deep, dcn_v2 find combinations by themselves. Which is best here?\n")
        .append("model: ").append(small ? "{kind: logistic_regression}" : "{kind: deepfm, embedding: 8, hidden: [64, 32]}").append('\n')
        .append("output: ").append(Yaml.scalar("output/" + job)).append('\n');
    return text.toString();
  }

  private void data(StringBuilder text) {
    Path parent = look.file().getParent();
    text.append("data:\n  dir: ").append(Yaml.scalar(parent == null ? "." : parent.toString())).append("\n  format: ").append(look.format())
        .append("\n  files: [").append(Yaml.scalar(look.file().getFileName().toString())).append("]\n");
    if (!look.given().isEmpty()) {
      text.append("  # The first line was taken for values: what are the names of the columns?\n  columns: [\"c[1-")
          .append(look.given().size()).append("]\"]\n");
    }
    text.append("  shuffle_buffer: 20000\n");
    if (look.badLines() > 0) {
      text.append("  # ").append(look.badLines()).append(" rows could not be read; are they to be skipped?\n  on_bad_line: skip\n");
    }
    if (testFile != null) {
      text.append("  test_files: [").append(Yaml.scalar(testFile.getFileName().toString())).append("]\n");
    } else if (!features.orderedBy().isEmpty()) {
      text.append("  # Rows are in the order of ").append(Yaml.line(features.orderedBy())).append(": the last ones test the model.\n")
          .append("  test: {share: 0.2, by: position}\n");
    } else {
      text.append(features.time().isEmpty() ? "  # Are rows in the order of time? Then by: position tests on the last ones.\n"
          : "  # Rows are not in the order of " + Yaml.line(features.time()) + ". Sorted by it, by: position would test on the last ones, as "
              + "in use; can you sort them?\n").append("  test: {share: 0.2, by: hash}\n");
    }
  }

  private void label(StringBuilder text) {
    text.append("labels:\n").append(String.format(Locale.ROOT, "  # %.1f %% of the rows are positive.", PERCENT * label.share()));
    if (!label.positive().isEmpty()) {
      text.append(" Is ").append(Yaml.line(label.positive())).append(" the value to predict?");
    }
    if (!label.others().isEmpty()) {
      text.append(" Other columns with two values: ").append(Yaml.line(String.join(", ", label.others()))).append("; is it one of them?");
    }
    text.append("\n  ").append(Yaml.scalar(label.column())).append(": {kind: binary")
        .append(label.positive().isEmpty() ? "" : ", positive: " + Yaml.scalar(label.positive())).append("}\n");
  }
}
