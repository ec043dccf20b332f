package io.regatta.protocol.heter;

import io.regatta.protocol.tensor.CutTensor;
import java.nio.ByteBuffer;

/**
 * One array that crosses a cut.
 *
 * @param tensor its role, type and shape
 * @param bytes its elements, little-endian, in direct memory; borrowed by a call until that completes
 */
public record TensorData(CutTensor tensor, ByteBuffer bytes) {}
