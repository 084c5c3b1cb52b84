/* Operations on the file f; C makes the names of those that have a form for large counts. */
    X(C(File_write_at), (f, me, &x, 1, MPI_INT, &s));
    X(C(File_write_at_all), (f, me, &x, 1, MPI_INT, &s));
    X(File_sync, (f));
    X(C(File_read_at), (f, me, &y, 1, MPI_INT, &s)); BACK
    X(C(File_read_at_all), (f, me, &y, 1, MPI_INT, &s)); BACK
    X(File_seek, (f, me, MPI_SEEK_SET));
    X(File_get_position, (f, &offset));
    X(File_get_byte_offset, (f, offset, &offset));
    KEEP(offset);
    X(C(File_write), (f, &x, 1, MPI_INT, &s));
    X(File_seek, (f, me, MPI_SEEK_SET));
    X(C(File_read), (f, &y, 1, MPI_INT, &s)); BACK
    X(File_seek, (f, me, MPI_SEEK_SET));
    X(C(File_write_all), (f, &x, 1, MPI_INT, &s));
    X(File_seek, (f, me, MPI_SEEK_SET));
    X(C(File_read_all), (f, &y, 1, MPI_INT, &s)); BACK
    X(C(File_iwrite_at), (f, me, &x, 1, MPI_INT, &r)); wait_for("File_iwrite_at", &r);
    X(C(File_iread_at), (f, me, &y, 1, MPI_INT, &r)); wait_for("File_iread_at", &r); BACK
    X(C(File_iwrite_at_all), (f, me, &x, 1, MPI_INT, &r)); wait_for("File_iwrite_at_all", &r);
    X(C(File_iread_at_all), (f, me, &y, 1, MPI_INT, &r)); wait_for("File_iread_at_all", &r); BACK
    X(File_seek, (f, me, MPI_SEEK_SET));
    X(C(File_iwrite), (f, &x, 1, MPI_INT, &r)); wait_for("File_iwrite", &r);
    X(File_seek, (f, me, MPI_SEEK_SET));
    X(C(File_iread), (f, &y, 1, MPI_INT, &r)); wait_for("File_iread", &r); BACK
    X(File_seek, (f, me, MPI_SEEK_SET));
    X(C(File_iwrite_all), (f, &x, 1, MPI_INT, &r)); wait_for("File_iwrite_all", &r);
    X(File_seek, (f, me, MPI_SEEK_SET));
    X(C(File_iread_all), (f, &y, 1, MPI_INT, &r)); wait_for("File_iread_all", &r); BACK
    X(C(File_write_at_all_begin), (f, me, &x, 1, MPI_INT));
    X(File_write_at_all_end, (f, &x, &s));
    X(C(File_read_at_all_begin), (f, me, &y, 1, MPI_INT));
    X(File_read_at_all_end, (f, &y, &s)); BACK
    X(File_seek, (f, me, MPI_SEEK_SET));
    X(C(File_write_all_begin), (f, &x, 1, MPI_INT));
    X(File_write_all_end, (f, &x, &s));
    X(File_seek, (f, me, MPI_SEEK_SET));
    X(C(File_read_all_begin), (f, &y, 1, MPI_INT));
    X(File_read_all_end, (f, &y, &s)); BACK
    X(File_seek_shared, (f, 0, MPI_SEEK_SET));
    X(File_get_position_shared, (f, &offset));
    X(C(File_write_ordered), (f, &x, 1, MPI_INT, &s));
    X(File_seek_shared, (f, 0, MPI_SEEK_SET));
    X(C(File_read_ordered), (f, &y, 1, MPI_INT, &s)); BACK
    X(File_seek_shared, (f, 0, MPI_SEEK_SET));
    X(C(File_write_ordered_begin), (f, &x, 1, MPI_INT));
    X(File_write_ordered_end, (f, &x, &s));
    X(File_seek_shared, (f, 0, MPI_SEEK_SET));
    X(C(File_read_ordered_begin), (f, &y, 1, MPI_INT));
    X(File_read_ordered_end, (f, &y, &s)); BACK
    X(File_seek_shared, (f, 0, MPI_SEEK_SET));
    X(C(File_write_shared), (f, &x, 1, MPI_INT, &s));
    X(Barrier, (w));
    X(File_seek_shared, (f, 0, MPI_SEEK_SET));
    X(C(File_read_shared), (f, &y, 1, MPI_INT, &s));
    X(Barrier, (w));
    X(File_seek_shared, (f, 0, MPI_SEEK_SET));
    X(C(File_iwrite_shared), (f, &x, 1, MPI_INT, &r)); wait_for("File_iwrite_shared", &r);
    X(Barrier, (w));
    X(File_seek_shared, (f, 0, MPI_SEEK_SET));
    X(C(File_iread_shared), (f, &y, 1, MPI_INT, &r)); wait_for("File_iread_shared", &r);
