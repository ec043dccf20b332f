package io.regatta.data.file;

/**
 * A shell command that turns a data file, on its standard input, into lines, on its standard output: PaddlePaddle's
 * {@code pipe_command}. It runs once for every file and pass, in the working directory. Immutable.
 *
 * @param line as typed, run by {@code /bin/sh -c}
 */
public record PipeCommand(String line) {

  /** Returns the command of a configured line; null if it is empty or {@code cat}, which both mean the file itself. */
  public static PipeCommand of(String line) {
    String command = line.strip();
    return command.isEmpty() || command.equals("cat") ? null : new PipeCommand(command);
  }
}
