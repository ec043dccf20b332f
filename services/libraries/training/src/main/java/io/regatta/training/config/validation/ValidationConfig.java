package io.regatta.training.config.validation;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.feature.TestPart;
import io.regatta.node.settings.Setting;
import java.util.List;

/** The section {@code data.validation} of a job: rows on which a model is evaluated while it is trained. Immutable. */
public record ValidationConfig(
    @Setting(doc = "Files with validation rows, relative to dir, or URIs; empty: share gives them.")
    List<String> files,

    @Setting(value = "0", doc = "Share of the rows of the training files that are validation rows, and not trained on; 0: none, files are.")
    double share,

    @Setting(value = "position", doc = "Which rows these are. position: the last ones before the test rows; needs statistics. hash: by a "
        + "hash of file and line.")
    TestPart.By by,

    @Setting(value = "0", unit = "steps", doc = "An evaluation every so many steps within a pass, at which all trainers meet, beside "
        + "the one after each pass. 0: none.")
    long everySteps) {

  public ValidationConfig {
    files = List.copyOf(files);
    new TestPart(share, by); // checks the share
    if (share > 0 && !files.isEmpty()) {
      throw new InvalidInput("files and share both give validation rows; take one of them out");
    }
    if (share == 0 && by != TestPart.By.POSITION) {
      throw new InvalidInput("by has no effect without share; give a share, such as 0.1");
    }
    if (everySteps < 0) {
      throw new InvalidInput("every_steps must be at least 0, not " + everySteps);
    }
    if (everySteps > 0 && share == 0 && files.isEmpty()) {
      throw new InvalidInput("every_steps has no effect without validation rows; give files, or a share, such as 0.1");
    }
  }

  /** Returns the share as the sources of examples take it. */
  public TestPart part() {
    return share == 0 ? TestPart.NONE : new TestPart(share, by);
  }

  /** Returns true if there are validation rows. */
  public boolean isOn() {
    return share > 0 || !files.isEmpty();
  }
}
