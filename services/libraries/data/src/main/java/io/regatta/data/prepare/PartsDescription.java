package io.regatta.data.prepare;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.WholeFile;
import io.regatta.data.file.DataFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * {@code NAME.parts.json}, which tells of what the parts beside it are made: by it a preparation that is started again knows its
 * own. Immutable; blocks on files, and is asked by whoever holds the parts' lock.
 */
final class PartsDescription {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** What the description says; equal ones make equal parts. */
  record Description(String command, Map<String, String> options, List<Input> inputs, int parts) {}

  /** A file, and how to see whether it is still the same. */
  record Input(String file, long bytes, long modifiedMillis) {}

  private final Preparation.Output output;
  private final Path file;
  private final Description description;

  private PartsDescription(Preparation.Output output, Description description) {
    this.output = output;
    this.description = description;
    file = output.directory().resolve(output.name() + ".parts.json");
  }

  /** Of parts that are made of files as they are now. */
  static PartsDescription of(String command, Map<String, String> options, List<Path> files, Preparation.Output output)
      throws IOException {
    List<Input> inputs = new ArrayList<>();
    for (Path input : files) {
      inputs.add(new Input(DataFiles.name(input.toAbsolutePath().normalize()), Files.size(DataFiles.readable(input)),
          Files.getLastModifiedTime(input).toMillis()));
    }
    return new PartsDescription(output, new Description(command, options, inputs, output.parts()));
  }

  /** Sees that the place is free, or holds parts of the same. */
  void begin() throws IOException {
    if (Files.exists(file)) {
      if (!description.equals(read())) {
        throw new InvalidInput(file.toAbsolutePath() + " tells of another preparation: of other files, options or parts. Choose "
            + "another directory with --to or another name with --name, or remove it and its parts");
      }
      return;
    }
    for (Path path : there(parts())) {
      throw new InvalidInput(path.toAbsolutePath() + " is there already, and nothing tells of what it is a part. Choose "
          + "another directory with --to or another name with --name, or remove it");
    }
    for (Path unpacked : there(Pattern.quote("." + output.name()) + "\\.unpacked-[0-9]{5}")) {
      Files.delete(unpacked); // of a preparation that ended early, of files as they were then
    }
    WholeFile.write(file, part -> JSON.writerWithDefaultPrettyPrinter().writeValue(part.toFile(), description));
  }

  private List<Path> there(String names) throws IOException {
    try (Stream<Path> all = Files.list(output.directory())) {
      return all.filter(path -> path.getFileName().toString().matches(names)).toList();
    }
  }

  private Description read() {
    try {
      return JSON.readValue(file.toFile(), Description.class);
    } catch (IOException damaged) {
      return null;
    }
  }

  /**
   * What has failed for what is in the input would stand in the way of the mended one: it leaves nothing, or, where parts are made
   * already, says what there is. (What was only stopped goes on as it was.)
   */
  InvalidInput leave(List<PlainInput> inputs, InvalidInput why) throws IOException {
    int made = there(parts()).size();
    if (made > 0) {
      return new InvalidInput(why.getMessage() + ". " + made + " of " + output.parts() + " parts are made: of the same input the "
          + "command goes on with the others; to begin anew with another, remove " + output.name() + "-* and "
          + file.getFileName() + " in " + output.directory().toAbsolutePath() + " first", why);
    }
    for (PlainInput input : inputs) {
      input.remove();
    }
    Files.deleteIfExists(file);
    return why;
  }

  /** What their names match. */
  private String parts() {
    return Pattern.quote(output.name()) + "-[0-9]{5}";
  }
}
