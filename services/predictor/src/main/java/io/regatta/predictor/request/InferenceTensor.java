package io.regatta.predictor.request;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.InputRow;
import io.regatta.protocol.inference.InferTensorContents;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A tensor of the Open Inference Protocol. Its elements are in row-major order. Immutable. */
public final class InferenceTensor {

  /** Below it, each whole number is a double. */
  private static final double EXACT_MAX = 1L << 53;

  /** The types of elements, by the protocol's names. */
  public enum Type {
    BOOL(1), UINT8(1), UINT16(2), UINT32(4), UINT64(8), INT8(1), INT16(2), INT32(4), INT64(8), FP32(4), FP64(8),
    /** Texts, or other bytes; of any size. */
    BYTES(0);

    /** Bytes of an element; 0: it has a length of its own before it. */
    private final int bytes;

    Type(int bytes) {
      this.bytes = bytes;
    }

    public boolean isFloating() {
      return this == FP32 || this == FP64;
    }

    /** Returns the type of a name. */
    public static Type of(String tensor, String name) {
      for (Type type : values()) {
        if (type.name().equals(name)) {
          return type;
        }
      }
      throw new InvalidInput("input " + tensor + " has the datatype '" + name + "'; there are "
          + Arrays.toString(values()));
    }
  }

  private final String name;
  private final Type type;
  private final long[] shape;
  /** The elements, if they are floating-point numbers; else null. */
  private final double[] numbers;
  /** The elements, if they are whole numbers or truth values; else null. */
  private final long[] wholes;
  /** The elements of {@link Type#BYTES}; else null. A missing one is null. */
  private final byte[][] texts;

  private InferenceTensor(String name, Type type, long[] shape, double[] numbers, long[] wholes, byte[][] texts) {
    this.name = name;
    this.type = type;
    this.shape = shape;
    this.numbers = numbers;
    this.wholes = wholes;
    this.texts = texts;
    long elements = 1;
    for (long size : shape) {
      if (size < 0 || size > Integer.MAX_VALUE || elements * size > Integer.MAX_VALUE) {
        throw new InvalidInput("input " + name + " has the shape " + Arrays.toString(shape)
            + ", which no data can have");
      }
      elements *= size;
    }
    int given = numbers != null ? numbers.length : wholes != null ? wholes.length : texts.length;
    if (elements != given) {
      throw new InvalidInput("input " + name + " has " + given + (given == 1 ? " element" : " elements")
          + ", but the shape "
          + Arrays.toString(shape) + ", which has " + elements);
    }
  }

  /** Returns a tensor of floating-point numbers. */
  public static InferenceTensor ofNumbers(String name, Type type, long[] shape, double[] numbers) {
    return new InferenceTensor(name, type, shape, numbers, null, null);
  }

  /** Returns a tensor of whole numbers or truth values. */
  public static InferenceTensor ofWholes(String name, Type type, long[] shape, long[] wholes) {
    return new InferenceTensor(name, type, shape, null, wholes, null);
  }

  /** Returns a tensor of texts; null is a missing one. */
  public static InferenceTensor ofTexts(String name, long[] shape, byte[][] texts) {
    return new InferenceTensor(name, Type.BYTES, shape, null, null, texts);
  }

  /** Returns a tensor of the protocol's binary form: little-endian elements, texts after their length in 4 bytes. */
  public static InferenceTensor ofRaw(String name, Type type, long[] shape, ByteBuffer raw) {
    ByteBuffer in = raw.slice().order(ByteOrder.LITTLE_ENDIAN);
    if (type == Type.BYTES) {
      return ofTexts(name, shape, texts(name, in));
    }
    if (in.remaining() % type.bytes != 0) {
      throw new InvalidInput("input " + name + " has " + in.remaining() + " bytes, which is no multiple of the "
          + type.bytes + " of "
          + type);
    }
    int elements = in.remaining() / type.bytes;
    if (type.isFloating()) {
      double[] numbers = new double[elements];
      for (int i = 0; i < elements; i++) {
        numbers[i] = type == Type.FP32 ? in.getFloat() : in.getDouble();
      }
      return ofNumbers(name, type, shape, numbers);
    }
    long[] wholes = new long[elements];
    for (int i = 0; i < elements; i++) {
      wholes[i] = switch (type) {
        case BOOL, UINT8 -> in.get() & 0xff;
        case INT8 -> in.get();
        case UINT16 -> in.getShort() & 0xffff;
        case INT16 -> in.getShort();
        case UINT32 -> in.getInt() & 0xffff_ffffL;
        case INT32 -> in.getInt();
        default -> in.getLong();
      };
    }
    return ofWholes(name, type, shape, wholes);
  }

  private static byte[][] texts(String name, ByteBuffer in) {
    List<byte[]> texts = new ArrayList<>();
    try {
      while (in.hasRemaining()) {
        int length = in.getInt();
        if (length < 0 || length > in.remaining()) {
          throw new BufferUnderflowException();
        }
        byte[] text = new byte[length];
        in.get(text);
        texts.add(text);
      }
    } catch (BufferUnderflowException e) {
      throw new InvalidInput("input " + name + ": element " + texts.size() + " is longer than the data", e);
    }
    return texts.toArray(byte[][]::new);
  }

  /** Returns a tensor of the elements in the field of its type. */
  public static InferenceTensor of(String name, Type type, long[] shape, InferTensorContents contents) {
    return switch (type) {
      case BOOL -> ofWholes(name, type, shape, contents.getBoolContentsList().stream().mapToLong(is -> is ? 1 : 0)
          .toArray());
      case INT8, INT16, INT32 -> ofWholes(name, type, shape, contents.getIntContentsList().stream()
          .mapToLong(each -> each).toArray());
      case UINT8, UINT16, UINT32 -> ofWholes(name, type, shape,
          contents.getUintContentsList().stream().mapToLong(Integer::toUnsignedLong).toArray());
      case INT64 -> ofWholes(name, type, shape, contents.getInt64ContentsList().stream().mapToLong(each -> each)
          .toArray());
      case UINT64 -> ofWholes(name, type, shape, contents.getUint64ContentsList().stream().mapToLong(each -> each)
          .toArray());
      case FP32 -> ofNumbers(name, type, shape, contents.getFp32ContentsList().stream().mapToDouble(each -> each)
          .toArray());
      case FP64 -> ofNumbers(name, type, shape, contents.getFp64ContentsList().stream().mapToDouble(each -> each)
          .toArray());
      case BYTES -> ofTexts(name, shape,
          contents.getBytesContentsList().stream().map(text -> text.toByteArray()).toArray(byte[][]::new));
    };
  }

  public String name() {
    return name;
  }

  public Type type() {
    return type;
  }

  /** Returns the examples: the size of the first dimension. */
  public int rows() {
    return shape.length == 0 ? 1 : (int) shape[0];
  }

  /** Returns the elements of an example. */
  public int width() {
    long width = 1;
    for (int i = 1; i < shape.length; i++) {
      width *= shape[i];
    }
    return (int) width;
  }

  /** Returns about the bytes of the elements in memory. */
  public long bytes() {
    return texts == null ? 8L * rows() * width() : Arrays.stream(texts)
        .mapToLong(text -> 16 + (text == null ? 0 : text.length)).sum();
  }

  /** Returns an element of {@link Type#BYTES}; null if it is missing. */
  public byte[] text(int element) {
    return texts[element];
  }

  /** Returns a numeric element. */
  public double number(int element) {
    return numbers != null ? numbers[element] : type == Type.UINT64 ? unsigned(wholes[element]) : wholes[element];
  }

  private static double unsigned(long whole) {
    return whole >= 0 ? whole : 2.0 * (whole >>> 1) + (whole & 1);
  }

  /** Sets a column to the elements of an example: one value, or a list of texts if there are several. */
  public void set(InputRow row, int column, int example) {
    int width = width();
    if (width != 1) {
      List<byte[]> list = new ArrayList<>(width);
      for (int i = example * width; i < (example + 1) * width; i++) {
        byte[] text = asText(i);
        if (text != null) {
          list.add(text);
        }
      }
      row.texts(column, list);
    } else if (texts != null) {
      byte[] text = texts[example];
      if (text != null) {
        row.text(column, text, 0, text.length);
      }
    } else if (numbers != null) {
      row.number(column, numbers[example]);
    } else if (type == Type.BOOL || type == Type.UINT64 && wholes[example] < 0) {
      byte[] text = asText(example);
      row.text(column, text, 0, text.length);
    } else {
      row.whole(column, wholes[example]);
    }
  }

  /** Returns a number as the text files hold it: whole numbers without a point. */
  private static String number(double value) {
    return value == Math.rint(value) && Math.abs(value) < EXACT_MAX ? Long.toString((long) value) : Double.toString(value);
  }

  private byte[] asText(int element) {
    if (texts != null) {
      return texts[element];
    }
    String text = numbers != null ? number(numbers[element]) : type == Type.BOOL
        ? Boolean.toString(wholes[element] != 0)
        : type == Type.UINT64 ? Long.toUnsignedString(wholes[element]) : Long.toString(wholes[element]);
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
