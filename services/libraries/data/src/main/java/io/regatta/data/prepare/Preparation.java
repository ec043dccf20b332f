package io.regatta.data.prepare;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.WholeFile;
import io.regatta.core.progress.Progress;
import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/**
 * A preparation that makes parts {@code NAME-00000}, {@code NAME-00001} … of text files in parallel. Compressed files
 * are decompressed beside them first. Each part is written under another name, synced, and renamed. The content of a
 * part depends on the files, their number and the options alone.
 *
 * <p>The file {@code NAME.parts.json} ({@link PartsDescription}), written first, describes what they are made of: if
 * the same preparation is started again, existing parts are kept. A preparation that fails before any part exists
 * leaves nothing.
 *
 * <p>It runs on the caller's thread and on {@code threads} of its own, named {@code regatta-prepare-I}; {@link #close}
 * from any thread ends it.
 */
public final class Preparation implements AutoCloseable {

  private static final int BUFFER_BYTES = 1 << 18;
  private static final long REPORT_MILLIS = 100;
  private static final long MEGABYTE = 1_000_000;

  /** The place of the parts: {@code NAME-00000} and so on in a directory. */
  public record Output(Path directory, String name, int parts, int threads) {

    public Output {
      if (parts < 1 || parts > 100_000 || threads < 1) {
        throw new InvalidInput(parts + " parts by " + threads + " threads: there must be 1 to 100000 parts, and a thread");
      }
      if (name.isBlank() || name.contains("/")) {
        throw new InvalidInput("'" + name + "' is not a name for the parts; give one such as train.txt with --name");
      }
    }

    Path part(int number) {
      return directory.resolve(String.format(Locale.ROOT, "%s-%05d", name, number));
    }

    /** Returns the place of a compressed input file's content until the parts are made. */
    Path unpacked(int number) {
      return directory.resolve(String.format(Locale.ROOT, ".%s.unpacked-%05d", name, number));
    }

    /** Returns the default name for parts of a file. */
    public static String nameOf(Path file) {
      return PlainInput.unpackedName(file);
    }
  }

  /** The conversion of pieces to a part. Called by several threads, each for another part. */
  interface Content {
    /** Writes the whole part, and calls {@code read} after each line. */
    void write(List<Piece> pieces, OutputStream out, ReadBytes read) throws IOException;
  }

  /** A counter of the bytes of the input that are done; throws {@code Cancelled} if the preparation must end. */
  interface ReadBytes {
    void done(long bytes);
  }

  private final Output output;
  private final List<Path> files;
  private final String command;
  private final PartsDescription description;
  private final Content content;
  private final AtomicLong bytes = new AtomicLong();
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private volatile boolean closed;

  Preparation(String command, Map<String, String> options, List<Path> files, Output output, Content content) {
    this.output = output;
    this.files = List.copyOf(files);
    this.content = content;
    this.command = command;
    try {
      description = PartsDescription.of(command, options, this.files, output);
    } catch (IOException e) {
      throw failed(e);
    }
  }

  /**
   * Makes the parts that do not exist yet.
   *
   * @param progress gets megabytes of the input
   * @return parts made; the others existed
   */
  public int run(Progress progress) {
    try {
      return runAlone(progress);
    } finally {
      ended.complete(null);
    }
  }

  /**
   * Runs under a file lock, because two preparations at a time would write the same parts. The lock's file stays:
   * removing it could allow two locks at a time.
   */
  private int runAlone(Progress progress) {
    try {
      Files.createDirectories(output.directory());
    } catch (IOException e) {
      throw failed(e);
    }
    Path lock = output.directory().resolve("." + output.name() + ".parts.lock");
    try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock held = channel.tryLock()) {
      if (held == null) {
        throw new InvalidInput("another process makes these parts in " + output.directory().toAbsolutePath()
            + " already: wait for it, or end it");
      }
      return runLocked(progress);
    } catch (OverlappingFileLockException e) {
      throw new InvalidInput("this process makes these parts in " + output.directory().toAbsolutePath() + " already", e);
    } catch (IOException e) {
      throw failed(e);
    }
  }

  private int runLocked(Progress progress) {
    try {
      description.begin();
      List<Integer> missing = IntStream.range(0, output.parts()).filter(part -> !Files.exists(output.part(part))).boxed().toList();
      List<PlainInput> inputs = IntStream.range(0, files.size())
          .mapToObj(i -> PlainInput.of(files.get(i), output.unpacked(i))).toList();
      if (!missing.isEmpty()) {
        makeAll(missing, inputs, progress);
      }
      for (PlainInput input : inputs) {
        input.remove();
      }
      return missing.size();
    } catch (IOException e) {
      throw failed(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw stopped();
    }
  }

  private void makeAll(List<Integer> missing, List<PlainInput> inputs, Progress progress) throws IOException, InterruptedException {
    try {
      unpack(inputs.stream().filter(PlainInput::isMissing).toList(), progress);
      make(missing, Piece.parts(inputs, output.parts()), progress);
    } catch (InvalidInput e) {
      throw description.leave(inputs, e);
    }
  }

  /** Decompresses files first: reading cannot begin in the middle of a compressed file. */
  private void unpack(List<PlainInput> packed, Progress progress) throws IOException, InterruptedException {
    if (packed.isEmpty()) {
      return;
    }
    long total = 0;
    List<Callable<Void>> tasks = new ArrayList<>();
    for (PlainInput input : packed) {
      total += Files.size(input.given());
      tasks.add(() -> {
        input.unpack(this::done);
        return null;
      });
    }
    inParallel("unpack", total, tasks, progress);
  }

  private void make(List<Integer> missing, List<List<Piece>> parts, Progress progress) throws InterruptedException {
    long total = missing.stream().flatMap(part -> parts.get(part).stream()).mapToLong(p -> p.to() - p.from()).sum();
    List<Callable<Void>> tasks = new ArrayList<>();
    for (int part : missing) {
      tasks.add(() -> {
        make(part, parts.get(part));
        return null;
      });
    }
    inParallel(command, total, tasks, progress);
  }

  /** Runs all tasks; the first failure, or the end, ends those that are running. */
  private void inParallel(String phase, long total, List<Callable<Void>> all, Progress progress) throws InterruptedException {
    bytes.set(0);
    progress.begin(phase, total / MEGABYTE, "MB");
    AtomicInteger number = new AtomicInteger();
    ExecutorService threads = Executors.newFixedThreadPool(Math.min(output.threads(), all.size()),
        task -> new Thread(task, "regatta-prepare-" + number.getAndIncrement()));
    boolean done = false;
    try {
      await(all.stream().<Future<?>>map(task -> threads.submit(() -> callOrEndAll(task))).toList(), progress);
      done = true;
    } finally {
      if (!done) {
        closed = true;
      }
      threads.shutdown();
      threads.awaitTermination(1, TimeUnit.MINUTES);
    }
    progress.end();
  }

  /** Runs a task; if it fails, it ends the others before its thread begins the next one. */
  private Void callOrEndAll(Callable<Void> task) throws Exception {
    done(0);
    try {
      return task.call();
    } catch (Exception | Error e) {
      closed = true;
      throw e;
    }
  }

  /** Waits for all tasks; throws the failure that has ended the others, rather than their cancellation. */
  private void await(List<Future<?>> tasks, Progress progress) throws InterruptedException {
    Throwable failure = null;
    long shown = 0;
    for (Future<?> task : tasks) {
      for (boolean done = false; !done; ) {
        try {
          task.get(REPORT_MILLIS, TimeUnit.MILLISECONDS);
          done = true;
        } catch (TimeoutException e) {
          // continues below
        } catch (ExecutionException e) {
          done = true;
          failure = failure == null || failure instanceof Cancelled ? e.getCause() : failure;
        }
        long now = bytes.get() / MEGABYTE;
        progress.advance(now - shown);
        shown = now;
      }
    }
    if (failure != null) {
      throw failure instanceof RegattaException known ? known
          : failure instanceof IOException io ? failed(io) : new IllegalStateException(failure);
    }
  }

  private void make(int number, List<Piece> pieces) throws IOException {
    WholeFile.write(output.part(number), part -> {
      try (FileOutputStream file = new FileOutputStream(part.toFile());
          OutputStream out = new BufferedOutputStream(file, BUFFER_BYTES)) {
        content.write(pieces, out, this::done);
        out.flush();
        file.getFD().sync();
      }
    });
  }

  private void done(long more) {
    if (closed) {
      throw stopped();
    }
    bytes.addAndGet(more);
  }

  private Cancelled stopped() {
    return new Cancelled(command + " into " + output.directory().toAbsolutePath() + " was stopped; start it "
        + "again to make the missing parts");
  }

  private InvalidInput failed(IOException e) {
    return new InvalidInput("parts of " + files + " cannot be made in " + output.directory().toAbsolutePath() + ": " + e
        + "; choose another directory with --to", e);
  }

  /** Ends the preparation after the current lines; unfinished parts are removed. */
  @Override
  public void close() {
    closed = true;
  }

  /** Returns a stage that completes when {@link #run} has ended. */
  public CompletionStage<Void> ended() {
    return ended;
  }
}
