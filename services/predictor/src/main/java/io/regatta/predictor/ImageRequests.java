package io.regatta.predictor;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.SlotBatch;
import io.regatta.data.image.EncodedImage;
import io.regatta.data.image.ImageInput;
import io.regatta.predictor.Predictor.Prediction;
import java.awt.image.BufferedImage;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Requests of encoded images. They are decoded on the threads of {@link RequestExecutor}, one image at a time each, and
 * then wait for the model as all others do. Any thread.
 */
final class ImageRequests {

  /** Most bytes of the floats of a request's images, which are in memory before they wait. */
  private static final long FLOATS_MAX = 64L << 20;
  /** Number of the largest images whose pixels a request may have together. */
  private static final int LARGEST = 16;

  private final RequestExecutor executor;
  private final Predictor predictor;
  private final ImageInput input;
  private final long maxPixels;

  /** @param maxPixels of an image; larger ones are refused before they are decoded */
  ImageRequests(RequestExecutor executor, Predictor predictor, ImageInput input, long maxPixels) {
    this.executor = executor;
    this.predictor = predictor;
    this.input = input;
    this.maxPixels = maxPixels;
  }

  /**
   * Predicts images.
   *
   * @param images JPEG, PNG, GIF or BMP; or the base64 text of one
   * @return failed with {@code InvalidInput} if one is none, or they are too large or too many; cancelling it withdraws
   *     the request
   */
  CompletableFuture<Prediction> predict(List<byte[]> images) {
    long most = Math.max(1, FLOATS_MAX / SlotBatch.bytes(predictor.layout()));
    if (images.size() > most) {
      return CompletableFuture.failedFuture(new InvalidInput("a request has " + images.size() + " images; send at most " + most
          + " at a time"));
    }
    CompletableFuture<Prediction> result = new CompletableFuture<>();
    CompletableFuture<Prediction> later = executor.later(() -> predictor.predict(decode(images, result)));
    result.whenComplete((prediction, error) -> later.cancel(false));
    later.whenComplete((prediction, error) -> {
      if (error != null) {
        result.completeExceptionally(error);
      } else {
        result.complete(prediction);
      }
    });
    return result;
  }

  private SlotBatch decode(List<byte[]> images, CompletableFuture<Prediction> result) {
    SlotBatch batch = SlotBatch.allocate(predictor.layout(), images.size());
    Arrays.fill(batch.labels(), Float.NaN);
    long pixels = 0;
    for (int i = 0; i < images.size() && !result.isDone(); i++) {
      try {
        BufferedImage image = EncodedImage.decode(plain(images.get(i)), Math.min(maxPixels, LARGEST * maxPixels - pixels));
        pixels += (long) image.getWidth() * image.getHeight();
        input.write(image, batch.dense(), i * predictor.layout().dense());
      } catch (InvalidInput e) {
        throw new InvalidInput("request, image " + (i + 1) + " " + e.getMessage(), e);
      }
    }
    return batch;
  }

  /**
   * Returns the bytes of an image that is given as base64; others as they are. Encoded images begin with other bytes.
   */
  private static byte[] plain(byte[] image) {
    for (byte b : image) {
      boolean base64 = b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '+' || b == '/'
          || b == '=';
      if (!base64) {
        return image;
      }
    }
    try {
      return Base64.getDecoder().decode(image);
    } catch (IllegalArgumentException e) {
      return image;
    }
  }
}
