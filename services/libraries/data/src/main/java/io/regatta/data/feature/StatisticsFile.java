package io.regatta.data.feature;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.util.DefaultIndenter;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.FeatureStatistics;
import io.regatta.core.feature.NumberStatistics;
import io.regatta.core.feature.Vocabulary;
import io.regatta.core.file.WholeFile;
import io.regatta.core.sketch.ValueCounts.Counted;
import io.regatta.data.RowFormat.Place;
import io.regatta.data.column.ColumnFacts;
import io.regatta.data.feature.RowSplit.Boundaries;
import io.regatta.data.feature.TableStatistics.Basis;
import io.regatta.data.feature.TableStatistics.Facts;
import io.regatta.data.feature.TableStatistics.FileFact;
import io.regatta.data.file.DataFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The files of a table's statistics: {@code features.json}, and a text file of each vocabulary with a value, a tab and
 * its count per line. A person can read and correct them. Stateless; any thread; blocks.
 */
public final class StatisticsFile {

  /** Name of the file that is always there. */
  public static final String NAME = "features.json";

  private static final int FORMAT = 1;
  private static final String SPLIT = "split";
  private static final String VALIDATION_SPLIT = "validation_split";
  private static final String VOCABULARY = "vocabulary";
  private static final int BYTES_MAX = 1 << 28;
  private static final ObjectMapper JSON = new ObjectMapper();

  private StatisticsFile() {}

  /** Writes the files of the statistics into a directory, {@value #NAME} as the last one. */
  public static void write(Path dir, TableStatistics statistics) {
    ObjectNode root = JSON.createObjectNode().put("format", FORMAT);
    root.putObject("basis").put("features", statistics.basis().features()).put("test", statistics.basis().test());
    root.put("rows", statistics.facts().rows()).put("bad_lines", statistics.facts().badLines());
    ObjectNode columns = root.putObject("columns");
    statistics.facts().columns().forEach((column, facts) -> ColumnFactsJson.write(facts, columns.putObject(column)));
    statistics.boundaries().test().ifPresent(place -> put(root.putObject(SPLIT), place));
    statistics.boundaries().validation().ifPresent(place -> put(root.putObject(VALIDATION_SPLIT), place));
    ArrayNode files = root.putArray("files");
    statistics.files().forEach(file ->
        files.addObject().put("name", file.name()).put("bytes", file.bytes()).put("rows", file.rows()));
    ObjectNode features = root.putObject("features");
    new TreeMap<>(statistics.features().numbers()).forEach((name, number) -> features.withObject("/numbers").putObject(name)
        .put("mean", number.mean()).put("deviation", number.deviation()).put("min", number.min()).put("max", number.max()));
    new TreeMap<>(statistics.features().bounds()).forEach((name, bounds) -> {
      ArrayNode array = features.withObject("/bounds").putArray(name);
      bounds.forEach(array::add);
    });
    try {
      int number = 0;
      for (Map.Entry<String, List<Counted>> each : new TreeMap<>(statistics.values()).entrySet()) {
        String file = VOCABULARY + "-" + number++ + ".tsv";
        features.withObject("/vocabularies").putObject(each.getKey()).put("file", file).put("values", each.getValue().size());
        byte[] text = VocabularyText.write(each.getValue());
        WholeFile.write(dir.resolve(file), part -> Files.write(part, text));
      }
      byte[] text = JSON.writer(new DefaultPrettyPrinter().withObjectIndenter(new DefaultIndenter("  ", "\n")))
          .writeValueAsBytes(root);
      WholeFile.write(dir.resolve(NAME), part -> Files.write(part, text));
    } catch (IOException e) {
      throw new InvalidInput("cannot write the statistics into " + dir + ": " + e.getMessage(), e);
    }
  }

  /**
   * Statistics, and the files from which they were read.
   *
   * @param files content by name, {@value #NAME} as the last one; must not be changed
   */
  public record Loaded(TableStatistics statistics, Map<String, byte[]> files) {}

  /**
   * Reads the statistics of a directory.
   *
   * @throws InvalidInput if they are not there, or not of this format
   */
  public static Loaded read(Path dir) {
    byte[] text = bytes(dir.resolve(NAME));
    Map<String, byte[]> read = new LinkedHashMap<>();
    TableStatistics statistics = read(dir, root(dir, text), read);
    read.put(NAME, text);
    return new Loaded(statistics, Collections.unmodifiableMap(read));
  }

  private static TableStatistics read(Path dir, JsonNode root, Map<String, byte[]> read) {
    Map<String, NumberStatistics> numbers = new TreeMap<>();
    JsonNode features = root.path("features");
    features.path("numbers").fields().forEachRemaining(each -> numbers.put(each.getKey(), new NumberStatistics(
        number(dir, each.getKey(), each.getValue(), "mean"), number(dir, each.getKey(), each.getValue(), "deviation"),
        number(dir, each.getKey(), each.getValue(), "min"), number(dir, each.getKey(), each.getValue(), "max"))));
    Map<String, List<Double>> bounds = new TreeMap<>();
    features.path("bounds").fields().forEachRemaining(each -> {
      List<Double> of = new ArrayList<>();
      each.getValue().forEach(bound -> of.add(bound.isNumber() ? bound.doubleValue()
          : wrong(dir, "the bound " + bound + " of " + each.getKey() + " is no number")));
      bounds.put(each.getKey(), of);
    });
    Map<String, List<Counted>> values = new TreeMap<>();
    Map<String, Vocabulary> vocabularies = new TreeMap<>();
    features.path("vocabularies").fields().forEachRemaining(each -> {
      Path file = inside(dir, each.getValue().path("file").asText());
      byte[] text = bytes(file);
      read.put(file.getFileName().toString(), text);
      List<Counted> counted = VocabularyText.read(file, text);
      values.put(each.getKey(), counted);
      vocabularies.put(each.getKey(), Vocabulary.of(each.getKey(), counted.stream().map(Counted::text).toList()));
    });
    Boundaries boundaries = new Boundaries(place(root.path(VALIDATION_SPLIT)), place(root.path(SPLIT)));
    List<FileFact> files = new ArrayList<>();
    root.path("files").forEach(file ->
        files.add(new FileFact(file.path("name").asText(), file.path("bytes").asLong(), file.path("rows").asLong())));
    Map<String, ColumnFacts> columns = new LinkedHashMap<>();
    root.path("columns").fields().forEachRemaining(column ->
        columns.put(column.getKey(), ColumnFactsJson.read(column.getValue(), root.path("rows").asLong())));
    Facts facts = new Facts(root.path("rows").asLong(), root.path("bad_lines").asLong(), columns);
    Basis basis = new Basis(root.path("basis").path("features").asText(), root.path("basis").path("test").asText());
    return new TableStatistics(facts, new FeatureStatistics(numbers, bounds, vocabularies), boundaries, files, values, basis);
  }

  private static void put(ObjectNode into, Place place) {
    into.put("file", place.file()).put("file_number", place.fileNumber()).put("line", place.line());
  }

  private static Optional<Place> place(JsonNode of) {
    return of.isMissingNode() ? Optional.empty()
        : Optional.of(new Place(of.path("file").asText(), of.path("file_number").asInt(), of.path("line").asLong()));
  }

  private static double number(Path dir, String feature, JsonNode of, String key) {
    JsonNode value = of.path(key);
    return value.isNumber() ? value.doubleValue() : wrong(dir, "the " + key + " of " + feature + " is no number");
  }

  private static byte[] bytes(Path file) {
    try {
      if (Files.size(file) > BYTES_MAX) {
        throw new InvalidInput(file + " is larger than " + BYTES_MAX + " bytes: it is no file of statistics");
      }
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw DataFiles.unreadable(file, e);
    }
  }

  private static JsonNode root(Path dir, byte[] text) {
    Path file = dir.resolve(NAME);
    try {
      JsonNode root = JSON.readTree(text);
      if (!(root instanceof ObjectNode) || root.path("format").asInt() != FORMAT) {
        return wrong(dir, "its format is " + root.path("format") + ", expected " + FORMAT);
      }
      return root;
    } catch (JsonProcessingException e) {
      throw new InvalidInput(file + " is no JSON: " + e.getOriginalMessage() + ". Compute it again with ./regatta analyze", e);
    } catch (IOException e) {
      throw DataFiles.unreadable(file, e);
    }
  }

  private static <T> T wrong(Path dir, String problem) {
    throw new InvalidInput(dir.resolve(NAME) + ": " + problem + "; correct it, or compute it again with ./regatta analyze");
  }

  /** Returns a file of the directory itself. */
  private static Path inside(Path dir, String name) {
    if (!name.matches(VOCABULARY + "-[0-9]+\\.tsv")) {
      return wrong(dir, "'" + name + "' is no name of a vocabulary's file");
    }
    return dir.resolve(name);
  }
}
