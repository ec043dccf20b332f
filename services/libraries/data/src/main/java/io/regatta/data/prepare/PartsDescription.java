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
 * The file {@code NAME.parts.json}, which describes what the parts beside it are made of, so that a restarted
 * preparation recognizes its own parts. Immutable; blocks on files, and is used by the holder of the parts' lock.
 */
final class PartsDescription {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** The content of the description; equal ones make equal parts. */
  record Description(String command, Map<String, String> options, List<Input> inputs, int parts) {}

  /** An input file, with what shows whether it has changed. */
  record Input(String file, long bytes, long modifiedMillis) {}

  private final Preparation.Output output;
  private final Path file;
  private final Description description;

  private PartsDescription(Preparation.Output output, Description description) {
    this.output = output;
    this.description = description;
    file = output.directory().resolve(output.name() + ".parts.json");
  }

  /** Returns the description of parts made from the present files. */
  static PartsDescription of(String command, Map<String, String> options, List<Path> files, Preparation.Output output)
      throws IOException {
    List<Input> inputs = new ArrayList<>();
    for (Path input : files) {
      inputs.add(new Input(DataFiles.name(input.toAbsolutePath().normalize()), Files.size(DataFiles.readable(input)),
          Files.getLastModifiedTime(input).toMillis()));
    }
    return new PartsDescription(output, new Description(command, options, inputs, output.parts()));
  }

  /** Checks that the output is free, or holds parts of the same preparation. */
  void begin() throws IOException {
    if (Files.exists(file)) {
      if (!description.equals(read())) {
        throw new InvalidInput(file.toAbsolutePath() + " describes another preparation, with other files, options or parts. Choose "
            + "another directory with --to or another name with --name, or remove it and its parts");
      }
      return;
    }
    for (Path path : there(parts())) {
      throw new InvalidInput(path.toAbsolutePath() + " exists already, and no description says what it is a part of. Choose "
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
   * Cleans up after a failure that is due to the input, so that nothing blocks a preparation of the corrected input. If
   * parts are made already, they stay, and the error says so. (A preparation that was only stopped resumes.)
   */
  InvalidInput leave(List<PlainInput> inputs, InvalidInput why) throws IOException {
    int made = there(parts()).size();
    if (made > 0) {
      return new InvalidInput(why.getMessage() + ". " + made + " of " + output.parts() + " parts are made: with the same input the "
          + "command continues with the others; to start again with another, remove " + output.name() + "-* and "
          + file.getFileName() + " in " + output.directory().toAbsolutePath() + " first", why);
    }
    for (PlainInput input : inputs) {
      input.remove();
    }
    Files.deleteIfExists(file);
    return why;
  }

  /** Returns a pattern for the names of the parts. */
  private String parts() {
    return Pattern.quote(output.name()) + "-[0-9]{5}";
  }
}
