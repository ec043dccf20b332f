package io.regatta.training.heter.part;

import ai.djl.mxnet.engine.MxNDArray;
import ai.djl.mxnet.jna.JnaUtils;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import com.sun.jna.Native;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.heter.TensorData;
import io.regatta.protocol.tensor.CutTensor;
import io.regatta.protocol.tensor.CutTensor.Element;
import io.regatta.protocol.tensor.CutTensor.Role;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The arrays of one message across a cut, copied out of the engine into direct memory, which is used again for the next
 * message. Belongs to a model thread.
 */
final class Tensors {

  private static final Map<DataType, Element> ELEMENTS = Map.of(DataType.FLOAT32, Element.FLOAT32, DataType.FLOAT64,
      Element.FLOAT64, DataType.FLOAT16, Element.FLOAT16, DataType.UINT8, Element.UINT8, DataType.INT8, Element.INT8,
      DataType.INT32, Element.INT32, DataType.INT64, Element.INT64, DataType.BOOLEAN, Element.BOOLEAN);

  private record Item(CutTensor tensor, NDArray array, int bytes) {}

  private final List<Item> items = new ArrayList<>();
  private ByteBuffer memory = ByteBuffer.allocateDirect(0);

  /**
   * Adds an array to the next message.
   *
   * @param gradient true if its gradient is asked for
   */
  void add(Role role, String name, NDArray array, boolean gradient) {
    DataType type = array.getDataType();
    CutTensor tensor = tensor(role, name, type, array.getShape()).toBuilder().setGradient(gradient).build();
    items.add(new Item(tensor, array, Math.toIntExact(Math.multiplyExact(array.size(), (long) type.getNumOfBytes()))));
  }

  /** Returns the description of an array. */
  static CutTensor tensor(Role role, String name, DataType type, Shape shape) {
    Element element = ELEMENTS.get(type);
    if (element == null) {
      throw new InvalidInput(name + " has the data type " + type + ", which cannot cross the cut of a network");
    }
    CutTensor.Builder tensor = CutTensor.newBuilder().setRole(role).setName(name).setElement(element);
    for (long dimension : shape.getShape()) {
      tensor.addShape(dimension);
    }
    return tensor.build();
  }

  /** Begins a message, without the arrays of one that was given up. */
  Tensors begin() {
    items.clear();
    return this;
  }

  /** Returns the message, which is valid until the next call; waits for the engine. */
  List<TensorData> take() {
    int total = 0;
    for (Item item : items) {
      total = Math.addExact(total, item.bytes());
    }
    if (memory.capacity() < total) {
      memory = ByteBuffer.allocateDirect(total);
    }
    List<TensorData> tensors = new ArrayList<>(items.size());
    int off = 0;
    for (Item item : items) {
      ByteBuffer bytes = memory.slice(off, item.bytes()).order(ByteOrder.nativeOrder());
      read(item.array(), bytes);
      tensors.add(new TensorData(item.tensor(), bytes));
      off += item.bytes();
    }
    items.clear();
    return tensors;
  }

  private static void read(NDArray array, ByteBuffer to) {
    int n = Math.toIntExact(array.size());
    if (n == 0) {
      return;
    }
    if (array instanceof MxNDArray mx) {
      JnaUtils.syncCopyToCPU(mx.getHandle(), Native.getDirectBufferPointer(to), n);
    } else {
      to.duplicate().put(array.toByteBuffer());
    }
  }

  static DataType type(CutTensor tensor) {
    return ELEMENTS.entrySet().stream().filter(entry -> entry.getValue() == tensor.getElement()).findFirst()
        .orElseThrow(() -> new InvalidInput(tensor.getName() + " has an unknown data type")).getKey();
  }

  static Shape shape(CutTensor tensor) {
    return new Shape(tensor.getShapeList().stream().mapToLong(Long::longValue).toArray());
  }

  /** Returns the elements of a tensor of direct memory, as the engine reads them. */
  static ByteBuffer bytes(TensorData data) {
    DataType type = type(data.tensor());
    long expected = Math.multiplyExact(shape(data.tensor()).size(), (long) type.getNumOfBytes());
    if (data.bytes().remaining() != expected) {
      throw new InvalidInput(data.tensor().getName() + " has " + data.bytes().remaining() + " bytes, but its shape "
          + shape(data.tensor()) + " has " + expected);
    }
    return data.bytes().slice().order(ByteOrder.nativeOrder());
  }

  /** Creates an array with a tensor's elements. */
  static NDArray create(NDManager manager, TensorData data) {
    Shape shape = shape(data.tensor());
    ByteBuffer bytes = bytes(data);
    return shape.size() == 0 ? manager.create(shape, type(data.tensor())) : manager.create(bytes, shape,
        type(data.tensor()));
  }

  /** Sets all elements of an array, which must have the tensor's shape and type. */
  static void set(NDArray array, TensorData data) {
    if (!array.getShape().equals(shape(data.tensor())) || array.getDataType() != type(data.tensor())) {
      throw new InvalidInput(data.tensor().getName() + " is " + type(data.tensor()) + " " + shape(data.tensor())
          + " on the other side of "
          + "the cut, and " + array.getDataType() + " " + array.getShape() + " here; start all processes with the "
          + "same job and program");
    }
    ByteBuffer bytes = bytes(data);
    if (bytes.hasRemaining()) {
      array.set(array.getDataType() == DataType.FLOAT32 ? bytes.asFloatBuffer() : bytes);
    }
  }

  /** Returns the tensors of a role, in their order. */
  static List<TensorData> of(List<TensorData> tensors, Role role) {
    return tensors.stream().filter(data -> data.tensor().getRole() == role).toList();
  }
}
