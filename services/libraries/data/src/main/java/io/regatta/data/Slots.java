package io.regatta.data;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The named fields of an example, in the order of the data: PaddlePaddle's {@code use_var}. Float fields become the
 * dense features, concatenated; id fields become the slots. Immutable; any thread may use it.
 */
public final class Slots {

  /** The content of a slot. */
  public enum Kind { DENSE, IDS, LABEL }

  /**
   * A named field.
   *
   * @param width exact number of values; of ids, the largest number
   * @param offset index of its first value in a row of the batch's array
   */
  public record Slot(String name, Kind kind, int width, int offset) {}

  public static final String BINARY = "label 0 or 1";

  private final List<Slot> slots;
  private final Layout layout;
  private final boolean binary;

  private Slots(List<Slot> slots, Layout layout, boolean binary) {
    this.slots = List.copyOf(slots);
    this.layout = layout;
    this.binary = binary;
  }

  public static Builder builder() {
    return new Builder();
  }

  public Layout layout() {
    return layout;
  }

  /** Returns the number of an id slot among the id slots, from 0. */
  public int number(String name) {
    List<String> ofIds = slots.stream().filter(slot -> slot.kind() == Kind.IDS).map(Slot::name).toList();
    if (!ofIds.contains(name)) {
      throw new InvalidInput("there is no slot of ids named " + name + ", only " + ofIds);
    }
    return ofIds.indexOf(name);
  }

  public int size() {
    return slots.size();
  }

  /** Returns true if a number may be the label; if not, {@value #BINARY} is expected. */
  public boolean takesLabel(float value) {
    return !binary || value == 0 || value == 1;
  }

  public Slot get(int number) {
    return slots.get(number);
  }

  /** A builder that takes slots in the order of the data; exactly one is the label. */
  public static final class Builder {

    private final List<Slot> slots = new ArrayList<>();
    private final List<Integer> widths = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private int dense;
    private int columns;
    private int labels;
    private boolean binary;

    private Builder() {}

    /** Adds {@code width} floats. */
    public Builder dense(String name, int width) {
      add(name, Kind.DENSE, width, dense);
      dense += width;
      return this;
    }

    /** Adds one id. */
    public Builder id(String name) {
      return ids(name, 1);
    }

    /** Adds up to {@code most} ids. */
    public Builder ids(String name, int most) {
      add(name, Kind.IDS, most, columns);
      columns += most;
      widths.add(most);
      return this;
    }

    /** Adds the label, one float, such as the target of a regression. */
    public Builder label(String name) {
      add(name, Kind.LABEL, 1, 0);
      labels++;
      return this;
    }

    /** Adds the label of a binary classifier: a line with another label than 0 or 1 is a bad line. */
    public Builder binaryLabel(String name) {
      binary = true;
      return label(name);
    }

    private void add(String name, Kind kind, int width, int offset) {
      if (name.isBlank() || !names.add(name) || width < 1) {
        throw new InvalidInput("slot '" + name + "' with " + width + " values: each slot needs a name of its own and room "
            + "for at least one value");
      }
      slots.add(new Slot(name, kind, width, offset));
    }

    public Slots build() {
      if (labels != 1) {
        throw new InvalidInput("the slots " + names + " need exactly one label, but have " + labels);
      }
      return new Slots(slots, new Layout(dense, widths, false), binary);
    }
  }
}
