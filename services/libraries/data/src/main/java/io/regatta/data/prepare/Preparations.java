package io.regatta.data.prepare;

import io.regatta.data.BadLines;
import io.regatta.data.Line;
import io.regatta.data.SlotBatch;
import io.regatta.data.file.LineBlocks;
import io.regatta.data.format.CriteoFormat;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The available preparations. Stateless; any thread may use it. */
public final class Preparations {

  private Preparations() {}

  /** Text formats for examples of slots. */
  public enum Format {
    /**
     * PaddlePaddle's MultiSlot: for each slot the number of its values and the values; dense features, C1 to C26,
     * label.
     */
    MULTISLOT {
      @Override
      void write(SlotBatch row, StringBuilder to) {
        to.append(row.layout().dense());
        for (float value : row.dense()) {
          to.append(' ').append(value);
        }
        for (long id : row.ids()) {
          to.append(" 1 ").append(id);
        }
        to.append(" 1 ").append((int) row.labels()[0]);
      }
    },
    /** PaddleRec's format: {@code click:0 dense_feature:0.05 … 1:737395 …}, slots numbered from 1. */
    SLOTS {
      @Override
      void write(SlotBatch row, StringBuilder to) {
        to.append("click:").append((int) row.labels()[0]);
        for (float value : row.dense()) {
          to.append(" dense_feature:").append(value);
        }
        for (int slot = 0; slot < row.ids().length; slot++) {
          to.append(' ').append(slot + 1).append(':').append(row.ids()[slot]);
        }
      }
    };

    /** Appends the only example of a batch, without a line end. */
    abstract void write(SlotBatch row, StringBuilder to);
  }

  /** Returns a preparation that splits files; the lines stay unchanged and in order. */
  public static Preparation split(List<Path> files, Preparation.Output output) {
    return new Preparation("split", Map.of(), files, output, (pieces, out, read) -> {
      for (Piece piece : pieces) {
        try (PieceReader reader = new PieceReader(piece)) {
          LineBlocks lines = reader.lines();
          long before = piece.from();
          while (reader.next()) {
            out.write(lines.block(), lines.from(), lines.to() - lines.from());
            out.write('\n');
            read.done(lines.offset() - before);
            before = lines.offset();
          }
        }
      }
    });
  }

  /**
   * Returns a preparation of examples in the Criteo format, normalized and hashed as {@link CriteoFormat} does.
   *
   * @param idSpace ids are in [0, idSpace)
   * @param badLines policy for lines that do not match
   */
  public static Preparation criteo(List<Path> files, Preparation.Output output, long idSpace, Format format,
      BadLines badLines) {
    CriteoFormat criteo = new CriteoFormat(idSpace);
    Map<String, String> options = Map.of("id_space", String.valueOf(idSpace), "format",
        format.name().toLowerCase(Locale.ROOT));
    return new Preparation("criteo", options, files, output,
        (pieces, out, read) -> convert(criteo, badLines, format, pieces, out, read));
  }

  private static void convert(CriteoFormat criteo, BadLines badLines, Format format, List<Piece> pieces,
      OutputStream out, Preparation.ReadBytes read) throws IOException {
    SlotBatch row = SlotBatch.allocate(CriteoFormat.LAYOUT, 1);
    StringBuilder text = new StringBuilder();
    BadLines silent = new BadLines(BadLines.Policy.SKIP, false);
    for (Piece piece : pieces) {
      try (PieceReader reader = new PieceReader(piece)) {
        LineBlocks lines = reader.lines();
        long before = piece.from();
        long number = 0;
        while (reader.next()) {
          number++;
          Line line = new Line(piece.name(), number, lines.block(), lines.from(), lines.to());
          if (line.to() > line.from()) {
            if (criteo.parse(line, row, 0, silent)) {
              text.setLength(0);
              format.write(row, text);
              out.write(text.append('\n').toString().getBytes(StandardCharsets.US_ASCII));
            } else {
              criteo.parse(inFile(piece, line, badLines, read), row, 0, badLines);
            }
          }
          read.done(lines.offset() - before);
          before = lines.offset();
        }
      }
    }
  }

  /**
   * Returns a bad line with its number in the file. It is counted only if the line is reported, because other threads
   * read what is before the piece.
   */
  private static Line inFile(Piece piece, Line line, BadLines badLines, Preparation.ReadBytes read) throws IOException {
    return !badLines.isTold() ? line
        : new Line(line.file(), piece.linesBefore(read) + line.number(), line.bytes(), line.from(), line.to());
  }
}
