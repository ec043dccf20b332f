package io.regatta.protocol.testing;

import com.google.protobuf.Descriptors.FieldDescriptor;
import io.regatta.protocol.tensor.DenseSlice;
import io.regatta.protocol.tensor.RowSlice;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.tensor.TensorMessage.BodyCase;

/** Messages of tensor streams for tests, as a client would build them. */
public final class Messages {

  private Messages() {}

  /** Returns a message with an empty body of this kind, and nothing else. */
  public static TensorMessage.Builder of(BodyCase kind) {
    TensorMessage.Builder message = TensorMessage.newBuilder();
    FieldDescriptor body = TensorMessage.getDescriptor().findFieldByNumber(kind.getNumber());
    return message.setField(body, message.newBuilderForField(body).build());
  }

  /** Returns the slice from this element on of a dense vector of {@code total} elements. */
  public static DenseSlice dense(long offset, long total) {
    return DenseSlice.newBuilder().setOffset(offset).setTotal(total).build();
  }

  /** Returns the slice of all {@code rows} rows of a request, with {@code dim} floats each. */
  public static RowSlice rows(String table, int rows, int dim) {
    return RowSlice.newBuilder().setTable(table).setRowCount(rows).setTotal(rows).setDim(dim).build();
  }
}
