package io.regatta.data.format;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;

/**
 * A reader of Thrift's compact protocol, in which Parquet writes its footer and the headers of its pages. It allocates
 * nothing, whatever sizes the bytes declare. It refuses a container or text that is longer than the bytes that follow,
 * and a struct nested in more than {@value #MAX_DEPTH} others. Used by one thread.
 *
 * <p>Methods throw {@link BufferUnderflowException} if the bytes end too early, and {@link IllegalArgumentException} if
 * they are not Thrift.
 */
final class CompactThrift {

  static final int BINARY = 8;
  static final int LIST = 9;
  static final int STRUCT = 12;

  private static final int TRUE = 1;
  private static final int FALSE = 2;
  private static final int BYTE = 3;
  private static final int I16 = 4;
  private static final int I32 = 5;
  private static final int I64 = 6;
  private static final int DOUBLE = 7;
  private static final int SET = 10;
  private static final int MAP = 11;
  private static final int MAX_DEPTH = 32;
  private static final int NIBBLE_BITS = 4;
  private static final int NIBBLE = 0xf;
  private static final int PAYLOAD_BITS = 7;
  private static final int MORE = 0x80;

  private final ByteBuffer in;
  private int id;
  private int type;

  /** @param in from its position to its limit; reading moves the position */
  CompactThrift(ByteBuffer in) {
    this.in = in;
  }

  /** Begins a struct, whose fields {@link #next} then visits. */
  void begin() {
    id = 0;
  }

  /** Returns to the outer struct after the end of an inner one; the outer struct's current field has this number. */
  void resume(int field) {
    id = field;
  }

  /** Moves to the next field of the struct that was begun last; returns false at its end. */
  boolean next() {
    int head = in.get();
    type = head & NIBBLE;
    if (type == 0) {
      return false;
    }
    int delta = (head & 0xff) >>> NIBBLE_BITS;
    id = delta == 0 ? (int) integer() : id + delta;
    return true;
  }

  /** Returns the number of the current field. */
  int id() {
    return id;
  }

  /** Returns the type of the current field. */
  int type() {
    return type;
  }

  /** Reads a signed integer of any width. */
  long integer() {
    long zigzag = unsigned();
    return zigzag >>> 1 ^ -(zigzag & 1);
  }

  /** Reads the current field as an integer; refuses another type. */
  long integerField() {
    if (type == BYTE) {
      return in.get();
    }
    if (type != I16 && type != I32 && type != I64) {
      throw new IllegalArgumentException("field " + id + " is not a number");
    }
    return integer();
  }

  /** Reads the length of a text or byte array, which follows. */
  int length() {
    return sized(unsigned());
  }

  /** Reads the head of a list; returns its size, and sets {@link #type} to the type of its elements. */
  int list() {
    int head = in.get() & 0xff;
    type = head & NIBBLE;
    int size = head >>> NIBBLE_BITS;
    return sized(size == NIBBLE ? unsigned() : size);
  }

  /** Skips the value of the current field. */
  void skip() {
    skip(type, 0);
  }

  private void skip(int of, int depth) {
    switch (of) {
      case TRUE, FALSE -> { }
      case BYTE -> skipBytes(1);
      case I16, I32, I64 -> unsigned();
      case DOUBLE -> skipBytes(Long.BYTES);
      case BINARY -> skipBytes(length());
      case LIST, SET -> {
        int size = list();
        int element = type;
        for (int i = 0; i < size; i++) {
          skipElement(element, depth + 1);
        }
      }
      case MAP -> {
        int size = sized(unsigned());
        int types = size == 0 ? 0 : in.get() & 0xff;
        for (int i = 0; i < size; i++) {
          skipElement(types >>> NIBBLE_BITS, depth + 1);
          skipElement(types & NIBBLE, depth + 1);
        }
      }
      case STRUCT -> skipStruct(depth + 1);
      default -> throw new IllegalArgumentException("a field has the unknown type " + of);
    }
  }

  /** Skips an element. A boolean takes a byte in a container; in a struct it is part of the field's head. */
  private void skipElement(int of, int depth) {
    if (of == TRUE || of == FALSE) {
      skipBytes(1);
    } else {
      skip(of, depth);
    }
  }

  private void skipStruct(int depth) {
    if (depth > MAX_DEPTH) {
      throw new IllegalArgumentException("structs are nested more than " + MAX_DEPTH + " deep");
    }
    int outer = id;
    begin();
    while (next()) {
      skip(type, depth);
    }
    id = outer;
  }

  private void skipBytes(int bytes) {
    if (bytes > in.remaining()) {
      throw new BufferUnderflowException();
    }
    in.position(in.position() + bytes);
  }

  /** Checks a size: each element takes at least one byte. */
  private int sized(long size) {
    if (size < 0 || size > in.remaining()) {
      throw new BufferUnderflowException();
    }
    return (int) size;
  }

  private long unsigned() {
    long value = 0;
    for (int shift = 0; shift < Long.SIZE; shift += PAYLOAD_BITS) {
      int next = in.get();
      value |= (long) (next & ~MORE & 0xff) << shift;
      if ((next & MORE) == 0) {
        return value;
      }
    }
    throw new IllegalArgumentException("a number has more than 64 bits");
  }
}
