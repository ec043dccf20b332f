package io.regatta.data.format;

import static org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.BINARY;
import static org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.BOOLEAN;
import static org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.DOUBLE;
import static org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT64;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import blue.strategic.parquet.ParquetWriter;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.InputRow;
import io.regatta.core.reduce.DistinctIds;
import io.regatta.data.BadLines;
import io.regatta.data.DataCursor;
import io.regatta.data.LoaderOptions;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotLoader;
import io.regatta.data.SlotSource;
import io.regatta.data.Slots;
import io.regatta.data.file.DataFiles;
import io.regatta.data.file.FileQueue;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Types;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ParquetSourceTest {

  private static final Slots SLOTS = Slots.builder().dense("price", 1).id("user").id("city").label("clicked").build();
  private static final MessageType SCHEMA = Types.buildMessage().required(BOOLEAN).named("clicked").optional(DOUBLE)
      .named("price").optional(BINARY).as(LogicalTypeAnnotation.stringType()).named("city").required(INT64).named("user")
      .required(INT64).named("other").named("row");

  @TempDir
  Path dir;

  private Path file(String name, Object[]... rows) throws IOException {
    Path file = dir.resolve(name);
    try (ParquetWriter<Object[]> writer = ParquetWriter.writeFile(SCHEMA, file.toFile(), (row, out) -> {
      for (int i = 0; i < row.length; i++) {
        if (row[i] != null) {
          out.write(SCHEMA.getFieldName(i), row[i]);
        }
      }
    })) {
      for (Object[] row : rows) {
        writer.write(row);
      }
    }
    return file;
  }

  @Test
  void columnsAreTakenByName() throws Exception {
    ParquetSource source = new ParquetSource(SLOTS, List.of(
        file("a.parquet", new Object[] {true, 2.5, "Ulm", 7L, 0L}, new Object[] {false, null, null, -8L, 0L}),
        file("b.parquet", new Object[] {true, -1.0, "Ulm", 9L, 0L})), new BadLines(BadLines.Policy.FAIL));
    DataCursor second;
    try (SlotLoader loader = SlotLoader.open(source, LoaderOptions.inOrder(2), 0)) {
      SlotBatch batch = loader.next();
      second = batch.after();
      assertThat(batch.labels()).containsExactly(1, 0);
      assertThat(batch.dense()).containsExactly(2.5f, 0f);
      assertThat(batch.ids()[0]).isEqualTo(7);
      assertThat(batch.ids()[2]).isEqualTo(-8);
      assertThat(batch.ids()[3]).isEqualTo(DistinctIds.PADDING);
      SlotBatch last = loader.next();
      assertThat(last.ids()).startsWith(9, batch.ids()[1]);
      assertThat(loader.hasNext()).isFalse();
    }
    try (SlotLoader loader = SlotLoader.open(source, LoaderOptions.inOrder(2), second)) {
      assertThat(loader.next().ids()[0]).isEqualTo(9);
    }
  }

  /** Copied here while it is read, and not longer. */
  @Test
  void aFileOfAnotherFileSystemIsReadToo() throws Exception {
    Path here = file("a.parquet", new Object[] {true, 2.5, "Ulm", 7L, 0L});
    Set<Path> before = copies();
    try (FileSystem other = FileSystems.newFileSystem(dir.resolve("parts.zip"), Map.of("create", "true"))) {
      Path there = Files.copy(here, other.getPath("/a.parquet"));
      Path broken = Files.writeString(other.getPath("/b.parquet"), "no Parquet file, but long enough to have a footer");
      try (SlotLoader loader = SlotLoader.open(new ParquetSource(SLOTS, List.of(there, there), new BadLines(BadLines.Policy.FAIL)),
          LoaderOptions.inOrder(2), 0)) {
        SlotBatch batch = loader.next();
        assertThat(batch.rows()).isEqualTo(2);
        assertThat(batch.ids()).startsWith(7, batch.ids()[3]);
        assertThat(batch.after().name()).contains("parts.zip").endsWith("/a.parquet");
      }
      assertThatThrownBy(() -> read(SLOTS, broken)).isInstanceOf(InvalidInput.class).hasMessageContaining("parts.zip")
          .hasMessageContaining("/b.parquet cannot be read");
    }
    assertThat(copies()).isEqualTo(before);
  }

  private static Set<Path> copies() throws IOException {
    try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
      return files.filter(file -> file.getFileName().toString().matches("regatta-.*[.]parquet")).collect(Collectors.toSet());
    }
  }

  @Test
  void whatDoesNotFitIsNamed() throws Exception {
    Path file = file("a.parquet", new Object[] {true, 2.5, "Ulm", 7L, 0L}, new Object[] {true, Double.NaN, "Ulm", 7L, 0L});
    assertThatThrownBy(() -> read(SLOTS, file)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("a.parquet, line 2, column price: expected a number, found 'NaN'");
    assertThatThrownBy(() -> read(Slots.builder().id("price").label("clicked").build(), file))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("column price: expected a whole number or text, found '2.5'");
    assertThatThrownBy(() -> read(Slots.builder().id("user").binaryLabel("price").build(), file))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("line 1, column price: expected label 0 or 1, found '2.5'");
    assertThatThrownBy(() -> read(Slots.builder().id("zip").label("clicked").build(), file))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("expected a column named zip");
    Path kept = file("c.parquet", new Object[] {true, 2.5, "Ulm", -1L, 0L});
    assertThatThrownBy(() -> read(SLOTS, kept)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("line 1, column user: expected a whole number other than -1, which means no id, found '-1'");
    Path text = Files.writeString(dir.resolve("b.parquet"), "no Parquet file, but long enough to have a footer");
    assertThatThrownBy(() -> read(SLOTS, text)).isInstanceOf(InvalidInput.class).hasMessageContaining("b.parquet cannot be read");
  }

  private static Path fixture(String name) {
    return Path.of("src/test/resources/parquet").resolve(name);
  }

  private static SlotBatch all(Slots slots, List<Path> files, int rows) throws Exception {
    try (SlotLoader loader = SlotLoader.open(new ParquetSource(slots, files, new BadLines(BadLines.Policy.FAIL)),
        LoaderOptions.inOrder(rows), 0)) {
      SlotBatch batch = loader.next();
      assertThat(batch.rows()).isEqualTo(rows);
      assertThat(loader.hasNext()).isFalse();
      return batch;
    }
  }

  /** Written by pyarrow, see make.py beside the files. */
  @ParameterizedTest
  @ValueSource(strings = {"none", "snappy", "gzip", "lz4", "brotli", "zstd"})
  void readsEachCompressionOfAnotherWriter(String codec) throws Exception {
    SlotBatch batch = all(SLOTS, List.of(fixture(codec + ".parquet")), 300);
    long ulm = NamedValue.id("city", "Ulm");
    long koeln = NamedValue.id("city", "Köln");
    for (int i = 0; i < 300; i++) {
      assertThat(batch.labels()[i]).isEqualTo(1 - i % 2);
      assertThat(batch.dense()[i]).isEqualTo(i == 7 ? 0 : i / 4f);
      assertThat(batch.ids()[2 * i]).isEqualTo(1000 + i);
      assertThat(batch.ids()[2 * i + 1]).isEqualTo(i % 3 == 0 ? koeln : ulm);
    }
  }

  @Test
  void readsTypesByTheirMeaning() throws Exception {
    float when = (float) (LocalDateTime.of(2026, 11, 22, 12, 0).toEpochSecond(ZoneOffset.UTC) + 0.5);
    float day = LocalDate.of(2026, 11, 22).toEpochDay();
    String[] columns = {"small", "large", "half", "ms", "us", "ns", "date", "unsigned"};
    float[] first = {12.34f, -12345678901234567890.5f, 0.333251953125f, when, when, when, day, 4294967295f};
    float[] second = {0, 1, -65504, 0, 0, 0, 0, 1};
    Slots.Builder slots = Slots.builder();
    for (String column : columns) {
      slots.dense(column, 1);
    }
    SlotBatch batch = all(slots.id("whole").label("clicked").build(), List.of(fixture("types.parquet")), 2);
    assertThat(Arrays.copyOf(batch.dense(), columns.length)).containsExactly(first);
    assertThat(Arrays.copyOfRange(batch.dense(), columns.length, 2 * columns.length)).containsExactly(second);
    assertThat(batch.ids()).startsWith(77, -3);
  }

  @Test
  void readsTimestampsOfTwelveBytes() throws Exception {
    try (ParquetRows rows = new ParquetRows(fixture("int96.parquet"), "int96", Map.of("ns", 0), name -> null, false)) {
      assertThat(rows.next()).containsExactly(LocalDateTime.of(2026, 11, 22, 12, 0).toEpochSecond(ZoneOffset.UTC) + 0.5);
      assertThat(rows.next()).containsExactly((Object) null);
      assertThat(rows.next()).isNull();
    }
  }

  @Test
  void namesColumnAndFileOfWhatIsNotRead() {
    Path types = fixture("types.parquet");
    assertThatThrownBy(() -> read(Slots.builder().id("small").label("clicked").build(), types)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("column small: expected a whole number or text, found '12.34'");
    assertThatThrownBy(() -> read(Slots.builder().id("list.list.element").label("clicked").build(), types))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("types.parquet: column list.list.element is a list");
  }

  /** As rows of declared features: lists, text, dates and columns of directories' names. */
  @Test
  void rowsHaveListsAndDates() {
    InputRow row = new InputRow(6);
    List<String> seen = new ArrayList<>();
    ParquetTable table = new ParquetTable(new LinkedHashSet<>(List.of("date", "list", "whole", "small", "clicked")), Set.of("none"));
    try (SlotSource.Cursor<ParquetSource.Row> rows = table.open(new FileQueue(List.of(fixture("types.parquet")), 0), DataCursor.startOf(0))) {
      for (ParquetSource.Row each = rows.next(); each != null; each = rows.next()) {
        assertThat(table.read(each, row, new BadLines(BadLines.Policy.FAIL))).isTrue();
        seen.add(row.type(0) + " " + new String(row.bytes(0), row.from(0), row.to(0) - row.from(0)) + " " + row.type(1) + " "
            + (row.type(1) == InputRow.Type.TEXTS ? row.texts(1).stream().map(String::new).toList() : "") + " " + row.type(2) + " "
            + row.whole(2) + " " + row.type(3) + " " + row.type(4) + " " + row.type(5) + " " + table.place(each).line());
      }
    }
    assertThat(seen).hasSize(2);
    assertThat(seen.get(0)).isEqualTo("TEXT 2026-11-22 TEXTS [1] WHOLE 77 NUMBER WHOLE MISSING 1");
    assertThat(ParquetTable.names(fixture("types.parquet"))).contains("date", "list", "whole");
    ParquetTable days = new ParquetTable(new LinkedHashSet<>(List.of("user", "day", "country")), Set.of());
    try (SlotSource.Cursor<ParquetSource.Row> rows = days.open(new FileQueue(DataFiles.parts(fixture("."), "partitioned"), 0),
        DataCursor.startOf(0))) {
      assertThat(days.read(rows.next(), row, new BadLines(BadLines.Policy.FAIL))).isTrue();
      assertThat(row.whole(1)).isEqualTo(22);
    }
  }

  /** Directories say what columns do not. */
  @Test
  void readsAPartitionedDirectory() throws Exception {
    List<Path> files = DataFiles.parts(fixture("."), "partitioned");
    assertThat(files).hasSize(3);
    SlotBatch batch = all(Slots.builder().dense("day", 1).id("user").id("country").label("clicked").build(), files, 3);
    assertThat(batch.dense()).containsExactly(22, 22, 23);
    long[] user = {batch.ids()[0], batch.ids()[2], batch.ids()[4]};
    assertThat(user).containsExactlyInAnyOrder(1, 2, 3);
    for (int i = 0; i < 3; i++) {
      assertThat(batch.ids()[2 * i + 1]).isEqualTo(user[i] == 1 ? NamedValue.id("country", "de")
          : user[i] == 2 ? DistinctIds.PADDING : NamedValue.id("country", "a b/c"));
    }
  }

  @Test
  void messagesNameAFileThatIsCutOff() throws Exception {
    byte[] whole = Files.readAllBytes(fixture("zstd.parquet"));
    whole[60] ^= 0x55;
    Path damaged = Files.write(dir.resolve("damaged.parquet"), whole);
    assertThatThrownBy(() -> read(SLOTS, damaged)).isInstanceOf(InvalidInput.class).hasMessageContaining("damaged.parquet")
        .hasMessageNotContaining("InputFile");
    Path cut = Files.write(dir.resolve("cut.parquet"), Arrays.copyOf(whole, whole.length / 2));
    assertThatThrownBy(() -> read(SLOTS, cut)).isInstanceOf(InvalidInput.class).hasMessageContaining("cut.parquet")
        .hasMessageNotContaining("InputFile");
  }

  private static void read(Slots slots, Path file) {
    try (SlotLoader loader = SlotLoader.open(new ParquetSource(slots, List.of(file), new BadLines(BadLines.Policy.FAIL)),
        LoaderOptions.inOrder(10), 0)) {
      loader.next();
    }
  }
}
