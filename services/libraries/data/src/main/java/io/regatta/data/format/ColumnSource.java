package io.regatta.data.format;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.BadLines;
import io.regatta.data.FileSource;
import io.regatta.data.Layout;
import io.regatta.data.Slots;
import io.regatta.data.file.DataFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A source of files whose rows have named columns; each slot takes one column. Immutable; any thread may use it.
 *
 * @param <R> a row
 */
abstract class ColumnSource<R> implements FileSource<R> {

  final Slots slots;
  final ColumnCoding coding;
  final BadLines badLines;
  private final List<Path> files;
  private final Layout layout;

  /**
   * @param slots by column name, each of width 1
   * @param files read in this order; must exist
   * @param what description of a column, for messages
   */
  ColumnSource(Slots slots, ColumnCoding coding, List<Path> files, BadLines badLines, String what) {
    for (int i = 0; i < slots.size(); i++) {
      if (slots.get(i).width() != 1) {
        throw new InvalidInput(what + " holds one value, but slot " + slots.get(i).name() + " is " + slots.get(i).width()
            + " wide");
      }
    }
    this.slots = slots;
    this.coding = coding;
    this.files = files.stream().map(DataFiles::readable).toList();
    this.badLines = badLines;
    List<Long> emptyIds = new ArrayList<>();
    for (int i = 0; i < slots.size(); i++) {
      if (slots.get(i).kind() == Slots.Kind.IDS) {
        emptyIds.add(coding.id(slots.get(i).name(), slots.get(i).offset(), new byte[0]));
      }
    }
    layout = slots.layout().withEmptyIds(emptyIds);
  }

  @Override
  public Layout layout() {
    return layout;
  }

  @Override
  public long size() {
    return -1;
  }

  @Override
  public List<Path> files() {
    return files;
  }
}
