package io.regatta.fleet;

import io.regatta.fleet.command.Regatta;
import io.regatta.training.TrainingProgram;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** One call of the command line in this JVM, with what it printed. */
record CommandLineRun(int status, String out, String err) {

  static CommandLineRun regatta(String... args) {
    return with(null, args);
  }

  static CommandLineRun with(TrainingProgram program, String... args) {
    PrintStream standardOut = System.out;
    PrintStream standardErr = System.err;
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
    try {
      int status = Regatta.execute(program, args);
      return new CommandLineRun(status, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    } finally {
      System.setOut(standardOut);
      System.setErr(standardErr);
    }
  }

  /** The lines of ours on standard error. */
  String failure() {
    return err.lines().filter(line -> line.startsWith("regatta: ")).reduce((a, b) -> a + "\n" + b).orElse("");
  }
}
