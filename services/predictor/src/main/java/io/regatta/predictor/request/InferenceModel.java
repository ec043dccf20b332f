package io.regatta.predictor.request;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.BadLines;
import io.regatta.data.Layout;
import io.regatta.data.Line;
import io.regatta.data.LineFormat;
import io.regatta.data.SlotBatch;
import io.regatta.data.feature.RequestRows;
import io.regatta.data.image.ImageInput;
import io.regatta.predictor.request.InferenceTensor.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A served model as the Open Inference Protocol describes it: names, types and shapes of its tensors, and the way from
 * tensors to examples. Its version is the step of training. Immutable; any thread.
 *
 * <p>A model over named columns has an input for each column. A model of images has {@code image}, encoded images, or
 * {@code values}, its floats; other models without ids have {@code values}. All others have {@code lines}, an example
 * in the format of the model in each element. The output is {@code scores}.
 */
public final class InferenceModel {

  public static final String SCORES = "scores";
  private static final String IMAGE = "image";
  private static final String VALUES = "values";
  private static final String LINES = "lines";
  private static final long ANY = -1;

  /** A tensor of the model; the size -1 is any. */
  public record Spec(String name, Type type, List<Long> shape) {}

  /** The inputs of a request: examples, or encoded images that have to be decoded first. Exactly one is null. */
  public record Inputs(RequestExamples examples, List<byte[]> images) {}

  private final Optional<RequestRows> rows;
  private final Optional<ImageInput> images;
  private final LineFormat lines;
  private final Layout layout;
  private final Map<String, Spec> inputs = new LinkedHashMap<>();
  private final Map<String, Integer> columns = new HashMap<>();

  /** Creates the description of a model. */
  public InferenceModel(Optional<RequestRows> rows, Optional<ImageInput> images, LineFormat lines) {
    this.rows = rows;
    this.images = images;
    this.lines = lines;
    layout = lines.layout();
    if (rows.isPresent()) {
      for (RequestRows.Column column : rows.get().columns()) {
        columns.put(column.name(), columns.size());
        put(switch (column.type()) {
          case NUMBER -> new Spec(column.name(), Type.FP64, List.of(ANY, 1L));
          case TEXT -> new Spec(column.name(), Type.BYTES, List.of(ANY, 1L));
          case TEXTS -> new Spec(column.name(), Type.BYTES, List.of(ANY, ANY));
        });
      }
      return;
    }
    images.ifPresent(image -> {
      put(new Spec(IMAGE, Type.BYTES, List.of(ANY)));
      put(new Spec(VALUES, Type.FP32, List.of(ANY, (long) image.channels(), (long) image.height(),
          (long) image.width())));
    });
    if (images.isEmpty() && layout.slots() == 0) {
      put(new Spec(VALUES, Type.FP32, List.of(ANY, (long) layout.dense())));
    }
    if (images.isEmpty()) {
      put(new Spec(LINES, Type.BYTES, List.of(ANY)));
    }
  }

  private void put(Spec spec) {
    inputs.put(spec.name(), spec);
  }

  /** Returns the tensors of a request. */
  public List<Spec> inputs() {
    return List.copyOf(inputs.values());
  }

  /**
   * Returns the examples of a request's tensors.
   *
   * @throws InvalidInput if a tensor is unknown, has another type or shape, or what an example needs is missing
   */
  public Inputs examples(List<InferenceTensor> tensors) {
    if (tensors.isEmpty()) {
      throw new InvalidInput("a request needs inputs; this model has " + inputs.keySet());
    }
    int examples = tensors.get(0).rows();
    Set<String> names = new HashSet<>();
    for (InferenceTensor tensor : tensors) {
      if (!inputs.containsKey(tensor.name())) {
        throw new InvalidInput("this model has no input " + tensor.name() + ", only " + inputs.keySet());
      }
      if (tensor.rows() != examples) {
        throw new InvalidInput("input " + tensor.name() + " has " + tensor.rows() + " examples, but " + tensors.get(0)
            .name() + " has "
            + examples);
      }
      if (tensor.rows() > 0 && tensor.width() == 0) {
        throw new InvalidInput("input " + tensor.name() + " has no elements for its " + tensor.rows() + " examples; leave it out");
      }
      if (!names.add(tensor.name())) {
        throw new InvalidInput("the request has the input " + tensor.name() + " twice");
      }
      requireType(tensor);
    }
    if (rows.isPresent()) {
      return new Inputs(new Rows(rows.get(), tensors, examples), null);
    }
    if (tensors.size() > 1) {
      throw new InvalidInput("a request gives " + tensors.size() + " inputs; give one of " + inputs.keySet());
    }
    InferenceTensor only = tensors.get(0);
    if (only.name().equals(VALUES)) {
      return new Inputs(RequestExamples.of(values(only)), null);
    }
    List<byte[]> elements = new ArrayList<>();
    for (int i = 0; i < only.rows() * only.width(); i++) {
      elements.add(only.text(i) == null ? new byte[0] : only.text(i));
    }
    return only.name().equals(IMAGE) ? new Inputs(null, elements) : new Inputs(new Lines(elements, lines), null);
  }

  private void requireType(InferenceTensor tensor) {
    Spec spec = inputs.get(tensor.name());
    boolean text = tensor.type() == Type.BYTES;
    boolean fits = rows.isPresent() || spec.type() == tensor.type() || !text && spec.type() != Type.BYTES;
    if (!fits) {
      throw new InvalidInput("input " + tensor.name() + " is of " + tensor.type() + "; this model takes "
          + spec.type());
    }
    boolean single = rows.isPresent() && spec.shape().get(1) == 1 || !rows.isPresent() && spec.type() == Type.BYTES;
    if (single && tensor.width() != 1 && tensor.rows() > 0) {
      throw new InvalidInput("input " + tensor.name() + " has " + tensor.width()
          + " elements for an example; give one");
    }
  }

  private SlotBatch values(InferenceTensor tensor) {
    if (tensor.width() != layout.dense() && tensor.rows() > 0) {
      throw new InvalidInput("input " + VALUES + " has " + tensor.width()
          + " elements for an example; this model takes "
          + layout.dense() + ", in the shape " + inputs.get(VALUES).shape());
    }
    SlotBatch batch = SlotBatch.allocate(layout, tensor.rows());
    Arrays.fill(batch.labels(), Float.NaN);
    for (int i = 0; i < tensor.rows() * layout.dense(); i++) {
      batch.dense()[i] = (float) tensor.number(i);
    }
    return batch;
  }

  /** Rows of named columns, column by column. */
  private final class Rows implements RequestExamples {

    private final RequestRows reader;
    private final List<InferenceTensor> tensors;
    private final int[] places;
    private final int examples;

    Rows(RequestRows reader, List<InferenceTensor> tensors, int examples) {
      this.reader = reader;
      this.tensors = tensors;
      this.examples = examples;
      places = tensors.stream().mapToInt(tensor -> columns.get(tensor.name())).toArray();
    }

    @Override
    public int rows() {
      return examples;
    }

    @Override
    public long bytes() {
      return Math.max(examples * SlotBatch.bytes(layout), tensors.stream().mapToLong(InferenceTensor::bytes).sum());
    }

    @Override
    public int read(SlotBatch into, int at) {
      for (int row = 0; row < examples; row++) {
        int example = row;
        reader.read(input -> {
          for (int i = 0; i < places.length; i++) {
            tensors.get(i).set(input, places[i], example);
          }
        }, row + 1, into, at + row);
      }
      return examples;
    }
  }

  /** Examples as lines, one in each element. */
  private record Lines(List<byte[]> elements, LineFormat format) implements RequestExamples {

    @Override
    public int rows() {
      return elements.size();
    }

    @Override
    public long bytes() {
      return elements.stream().mapToLong(line -> line.length).sum();
    }

    @Override
    public int read(SlotBatch into, int at) {
      BadLines refused = BadLines.refused();
      for (int i = 0; i < elements.size(); i++) {
        byte[] text = elements.get(i);
        if (!format.parse(new Line("request", i + 1, text, 0, text.length), into, at + i, refused)) {
          throw new InvalidInput("request, line " + (i + 1) + ": it is no example, but a comment");
        }
      }
      return elements.size();
    }
  }
}
