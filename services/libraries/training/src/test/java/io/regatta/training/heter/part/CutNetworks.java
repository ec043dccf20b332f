package io.regatta.training.heter.part;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.Blocks;
import ai.djl.nn.ParallelBlock;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.convolutional.Conv2d;
import ai.djl.nn.core.Linear;
import ai.djl.nn.norm.BatchNorm;
import ai.djl.nn.norm.Dropout;
import ai.djl.nn.recurrent.LSTM;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import io.regatta.training.cut.Heter;
import io.regatta.training.model.DistributedEmbedding;
import java.util.List;

/** Small networks that can be cut, each with three classes, and what they take. */
enum CutNetworks {
  MLP(new Shape(5)) {
    @Override
    Block block() {
      return new SequentialBlock().add(Linear.builder().setUnits(7).build()).add(Activation::relu)
          .add(Heter.remote(new SequentialBlock().add(Linear.builder().setUnits(6).build()).add(Activation::tanh)
              .add(Linear.builder().setUnits(CLASSES).build())));
    }
  },
  WHOLE(new Shape(5)) {
    @Override
    Block block() {
      return new SequentialBlock().add(Linear.builder().setUnits(7).build()).add(Activation::relu)
          .add(Linear.builder().setUnits(CLASSES).build());
    }
  },
  RESNET(new Shape(2, 5, 5)) {
    @Override
    Block block() {
      Block residual = new ParallelBlock(
          lists -> new NDList(lists.get(0).singletonOrThrow().add(lists.get(1).singletonOrThrow())),
          List.of(new SequentialBlock().add(conv()).add(BatchNorm.builder().build()).add(Activation::relu).add(conv())
              .add(BatchNorm.builder().build()), Blocks.identityBlock()));
      return new SequentialBlock().add(conv()).add(BatchNorm.builder().build())
          .add(Heter.remote(new SequentialBlock().add(residual).add(Activation::relu).add(Blocks.batchFlattenBlock())
              .add(Linear.builder().setUnits(CLASSES).build())));
    }

    private Block conv() {
      return Conv2d.builder().setKernelShape(new Shape(3, 3)).optPadding(new Shape(1,
          1)).setFilters(3).optBias(false).build();
    }
  },
  LSTM_LAYERS(new Shape(4, 5)) {
    @Override
    Block block() {
      return new SequentialBlock().add(Linear.builder().setUnits(6).build())
          .add(Heter.remote(new SequentialBlock()
              .add(LSTM.builder().setNumLayers(1).setStateSize(5).optReturnState(false).build())
              .add(Blocks.batchFlattenBlock()).add(Linear.builder().setUnits(CLASSES).build())));
    }
  },
  DROPOUT(new Shape(6)) {
    @Override
    Block block() {
      return new SequentialBlock().add(Dropout.builder().optRate(0.2f).build())
          .add(Linear.builder().setUnits(7).build())
          .add(Heter.remote(new SequentialBlock().add(Dropout.builder().optRate(0.4f).build())
              .add(Linear.builder().setUnits(CLASSES).build())));
    }
  },
  WHOLE_WITH_DROPOUT(new Shape(6)) {
    @Override
    Block block() {
      return new SequentialBlock().add(Linear.builder().setUnits(7).build())
          .add(Dropout.builder().optRate(0.4f).build())
          .add(Linear.builder().setUnits(CLASSES).build());
    }
  },
  TABLE(null) {
    @Override
    Block block() {
      return new Rows(Heter.remote(new SequentialBlock().add(Linear.builder().setUnits(6).build()).add(Activation::relu)
          .add(Linear.builder().setUnits(CLASSES).build())));
    }
  },
  WIDE_TABLE(null) {
    @Override
    Block block() {
      return new Rows(Heter.remote(Linear.builder().setUnits(CLASSES).build(), 1,
          (deep, wide) -> new NDList(deep.get(0).add(wide.get(0)))), true);
    }
  },
  LOSS_OF_TABLE(null) {
    @Override
    Block block() {
      return new Rows(Linear.builder().setUnits(CLASSES).build());
    }

    @Override
    String part() {
      return "loss";
    }
  };

  static final int CLASSES = 3;
  static final int SLOTS = 4;
  static final int IDS = 20;

  private final Shape example;

  CutNetworks(Shape example) {
    this.example = example;
  }

  abstract Block block();

  /** {@code heter.part}. */
  String part() {
    return "dense";
  }

  boolean takesIds() {
    return example == null;
  }

  Shape input(int batch) {
    return takesIds() ? new Shape(batch, SLOTS) : new Shape(batch).addAll(example);
  }

  /** Rows of a table, through a layer; the wide part is one more array for the marked block. */
  static final class Rows extends AbstractBlock {
    private static final int DIM = 2;
    private final DistributedEmbedding embedding;
    private final Block layers;
    private final Block wide;

    Rows(Block layers) {
      this(layers, false);
    }

    Rows(Block layers, boolean isWide) {
      embedding = addChildBlock("embedding",
          DistributedEmbedding.builder().setTable("ids").setDim(DIM).optInputIndex(0).build());
      this.layers = addChildBlock("layers", layers);
      wide = isWide ? addChildBlock("wide", Linear.builder().setUnits(CLASSES).build()) : null;
    }

    @Override
    protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training, PairList<String,
        Object> params) {
      NDArray ids = inputs.get(0);
      NDArray rows = embedding.forward(store, new NDList(ids), training).singletonOrThrow()
          .reshape(ids.getShape().get(0), SLOTS * DIM);
      return wide == null ? layers.forward(store, new NDList(rows), training)
          : layers.forward(store, new NDList(rows, wide.forward(store, new NDList(rows),
          training).singletonOrThrow()), training);
    }

    @Override
    protected void initializeChildBlocks(NDManager manager, DataType type, Shape... shapes) {
      long batch = shapes[0].get(0);
      embedding.initialize(manager, type, new Shape(batch, SLOTS));
      Shape rows = new Shape(batch, SLOTS * DIM);
      if (wide == null) {
        layers.initialize(manager, type, rows);
      } else {
        layers.initialize(manager, type, rows, new Shape(batch, CLASSES));
        wide.initialize(manager, type, rows);
      }
    }

    @Override
    public Shape[] getOutputShapes(Shape[] shapes) {
      return new Shape[] {new Shape(shapes[0].get(0), CLASSES)};
    }
  }
}
